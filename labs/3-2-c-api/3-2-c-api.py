# %% [markdown]
# # The boundary between Python and C++
#
# What does a line of Python have to do so that C++ runs a graph, and who writes the code in between? The runtime is a
# C++ library. Its public face is a C API of some two hundred functions. Between that and `session.run` stands code that
# nobody wants to write by hand: it takes Python objects apart, calls C, looks at a status, makes Python objects of what
# comes back.
#
# At the end you can say where in a call Python ends, you have read a header as a tool reads it and written the wrapper
# that the tool writes, you have taught SWIG what a status is, and you have run a whole session through the C API in a
# process that never imported TensorFlow, with every object freed and every status looked at.
#
# 150 minutes · 22 points · Before this lab: 3-1 (what a step runs) and 2-2 (the life of a session).
#
# When you have saved, `./tflabs check 3-2-c-api` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What the last lab left
#
# Lab 3-1 followed a step through the runtime: the nodes that run, the ready queue and its threads, the tensors that
# travel between servers. All of that is C++, and all of it was asked for by one line of Python, `session.run(…)`. Its
# servers even ran without the Python package: the helper loaded the library and called four functions of it.
#
# This lab stands on the line between the two. First you look at one call from both sides. Then you see who wrote the
# code on the line, in 1.x and today. At the end you cross it yourself.

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import contextlib
import ctypes
import gc
import os
import pickle
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tflabs.runtime import (
    answer_to,
    find_compiler,
    find_python_headers,
    find_swig,
    in_fresh_process,
    plain_config,
    withheld,
)

tf1 = tf.compat.v1
GraphDef = tf1.GraphDef
PACKAGE = Path(tf.__file__).parent  # the installed wheel
[LIBRARY] = map(str, PACKAGE.glob("libtensorflow_cc.so.*"))
# What tests withhold while a session is built through C calls.
TF_STEPS = (
    "tensorflow.compat.v1.Session",
    "tensorflow.compat.v1.InteractiveSession",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.import_graph_def",
    "tensorflow.function",
)

# %% [markdown]
# ## 1. One call, from both sides
#
# A node of the graph below calls back into Python while it runs (`tf.numpy_function`), and the session runs its nodes
# in the thread that called `run` (`inter_op_parallelism_threads=-1`). So at that moment the whole way lies on one stack.
# `view.call_stack` reads it: Python's own frames, and those of the machine with the shared object that each belongs to.

# %%
from tflabs import view

stacks = []


def look(value):
    stacks.append(view.call_stack())
    return value


with tf.Graph().as_default() as watched:
    x = tf1.placeholder(tf.float32, [], name="x")
    tf.numpy_function(look, [x], tf.float32, name="y")
with tf1.Session(graph=watched, config=tf1.ConfigProto(inter_op_parallelism_threads=-1)) as session:
    session.run("y:0", {"x:0": 3.0})
view.boundary(stacks[-1], title="One session.run, from Python into C++ and back")

# %% [markdown]
# Read it from the top. Six functions of `session.py` sort out fetches and feeds; the last one, `_call_tf_sessionrun`, is
# where Python ends. The three frames of `_pywrap_tf_session.so` are the code in between: pybind11 turns Python objects
# into C++ values there. `TF_SessionRun_wrapper` makes tensors of arrays, `TF_SessionRun` is the C API, and below it
# stands what the labs of this unit are about: a `DirectSession`, an `Executor`, a kernel.
#
# A library exports only part of its functions, so some frames have no name. And one thing is odd: `SessionRef`, which
# belongs to the Python side, stands *below* the C API. (`TF_Session` holds a `Session*`, and Python puts its own there:
# a `SessionRef` waits in `Close` until no step is running; python/client/session_ref.cc.)
#
# Seen from Python only the first step over the line shows: the interpreter calls a function that is not Python.
#
# ### Exercise 1 · Where does Python end? (2 points)
#
# Write `boundary(action: str) -> list[str]`. It makes a world (the given `world()` returns a graph, a session on it and
# a callable of that session), performs `ACTIONS[action](*that_world)` once, and returns the names of the C functions
# that were called on the way, in order, every call of them: those whose `__module__` has `_pywrap_` in it. Functions
# with an empty name are left out: so methods of C++ classes show, such as `Tensor._as_tf_output`. A name with ` + ` is a
# series: `ACTIONS["op + run + op"]` performs three.
#
# `sys.setprofile(f)` has Python call `f(frame, event, argument)` at each call and return. At the event `"c_call"` the
# argument is the C function that is being called; `"call"` is a Python function, of which nothing is wanted here.
#
# - Only the action is traced. `world()` raises `RuntimeError` where a profile function is set, and takes it away; an
#   action raises it where one was performed on this world before.
# - When `boundary` has returned or raised, no profile function may be left, neither here nor for new threads
#   (`threading.setprofile`). What the action raises (`"unfed"` does) passes through unchanged.
# - A name that is not in `ACTIONS` raises `KeyError`.
#
# ```
# >>> boundary("graphdef")
# ['TF_NewBuffer', 'TF_GraphToGraphDef', 'TF_GetBuffer', 'TF_DeleteBuffer']
# ```
#
# <details><summary>Hint 1</summary>
#
# A list, and a function inside `boundary` that appends to it. Make the world before you set the profile function. A
# method of an object has a `__module__` that may be None: make text of it before you search it.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `sys.setprofile(note)`, then `try:` the action, `finally: sys.setprofile(None)`. In `note`: is it a `"c_call"`, does
# `"_pywrap_" in str(getattr(argument, "__module__", ""))`, and is `argument.__name__` not empty?
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-world", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
_worlds = []  # kept: a session that is deleted makes C calls of its own
_used = []  # graphs on which an action was performed


def world() -> tuple[tf.Graph, tf1.Session, Callable]:
    """A graph (`y` is the square of the placeholder `x`), a session that has run it, and a callable of it. Given.

    Raises:
        RuntimeError: a profile function was set; it no longer is.
    """
    if sys.getprofile() is not None or threading.getprofile() is not None:
        sys.setprofile(None)
        threading.setprofile(None)
        raise RuntimeError("a profile function is set: the world is to be made untraced, and none may be left behind")
    graph = tf.Graph()
    with graph.as_default():
        tf.square(tf1.placeholder(tf.float32, [], name="x"), name="y")
    session = tf1.Session(graph=graph, config=plain_config())
    session.run("y:0", {"x:0": 1.0})
    function = session.make_callable("y:0", feed_list=["x:0"])
    function(1.0)
    _worlds.append((graph, session, function))
    return _worlds[-1]


class Actions(Mapping):
    """Actions by name; `"op + run"` is a series of two. While one is performed, no garbage is collected. Given."""

    def __init__(self, single: dict[str, Callable]) -> None:
        self._single = single

    def __getitem__(self, name: str) -> Callable:
        parts = [self._single[part] for part in name.split(" + ")]

        def perform(graph: tf.Graph, session: tf1.Session, function: Callable) -> None:
            if graph in _used:
                raise RuntimeError("an action was performed on this world before")
            _used.append(graph)
            gc.disable()
            try:
                for part in parts:
                    part(graph, session, function)
            finally:
                gc.enable()

        return perform

    def __iter__(self) -> Iterator[str]:
        return iter(self._single)

    def __len__(self) -> int:
        return len(self._single)


def _add_op(graph: tf.Graph, session: tf1.Session, function: Callable) -> None:
    with graph.as_default():
        tf.raw_ops.Neg(x=graph.get_tensor_by_name("y:0"))


def _nothing(graph: tf.Graph, session: tf1.Session, function: Callable) -> None:
    """Calls functions of Python and of C, none of which belongs to a module of TensorFlow's."""
    sorted([len(graph.version.__str__()), 0])


def _caught(graph: tf.Graph, session: tf1.Session, function: Callable) -> None:
    with contextlib.suppress(tf.errors.InvalidArgumentError):
        session.run("y:0")


ACTIONS = Actions(
    {
        "run": lambda graph, session, function: session.run("y:0", {"x:0": 2.0}),
        "callable": lambda graph, session, function: function(2.0),
        "unfed": lambda graph, session, function: session.run("y:0"),
        "caught": _caught,
        "op": _add_op,
        "graphdef": lambda graph, session, function: graph.as_graph_def(),
        "close": lambda graph, session, function: session.close(),
        "nothing": _nothing,
    }
)


# %% nbgrader={"grade": false, "grade_id": "boundary", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def boundary(action: str) -> list[str]:
    """The names of the C functions of modules with `_pywrap_` in their name that one action calls, in order.

    Raises:
        KeyError: there is no such action.
    """
    ### BEGIN SOLUTION
    perform, made, called = ACTIONS[action], world(), []

    def note(frame: object, event: str, argument: object) -> None:
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.append(argument.__name__)

    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    return called
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "boundary-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
found = answer_to("the action 'graphdef'", (), boundary, "graphdef")
assert type(found) is list, f"boundary returns a list of names, not a {type(found).__name__}"
assert "TF_GraphToGraphDef" in found, f"as_graph_def asks C++ for the graph by TF_GraphToGraphDef; found {found}"
try:
    found = answer_to("the action 'no such action'", (KeyError,), boundary, "no such action")
except KeyError:
    pass
else:
    raise AssertionError(f"'no such action' is not in ACTIONS and must raise KeyError; returned {found!r}")


### BEGIN HIDDEN TESTS
def really_called(action):
    """The same names, in the process of the test."""
    arguments, names = world(), []

    def note(frame, event, argument):
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            names.append(argument.__name__)

    sys.setprofile(note)
    try:
        ACTIONS[action](*arguments)
    finally:
        sys.setprofile(None)
    return names


several = ("run", "op", "callable", "graphdef", "caught")
series = [" + ".join(random.SystemRandom().choices(several, k=5)) for _ in range(2)]
for action in ("graphdef", "run", "op", "callable", "nothing", "close", "caught", "op + op + run + op", *series):
    mine = answer_to(f"the action {action!r}", (), boundary, action)
    want = really_called(action)
    assert type(mine) is list and mine == want, f"the action {action!r} calls {want}; yours has {mine}"
try:
    mine = answer_to("the action 'unfed'", (tf.errors.InvalidArgumentError,), boundary, "unfed")
except tf.errors.InvalidArgumentError:
    pass
else:
    raise AssertionError(f"'unfed' raises InvalidArgumentError, which must pass through; returned {mine!r}")
mine = answer_to("'close', after an action that raised", (), boundary, "close")
assert mine == really_called("close"), (
    f"after an action that raised, 'close' calls {really_called('close')}; found {mine}"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="boundary"
# You traced the same names as the test, which has its own tracer. They are functions of `_pywrap_tf_session`
# (python/client/tf_session_wrapper.cc); python/client/pywrap_tf_session.py imports them all. `TF_SessionRun_wrapper` is
# one C call for one step, whatever the step does. Ours resets the profile function in `finally`, because a tracer that
# stays on after an error slows down everything that follows and says nothing.

# %% [markdown]
# The actions that return, if `boundary` is written. A `callable` saves Python work only: on the line it is the same call
# as `run`. `ExtendSession` stands before every step, because the graph may have grown since the last one.
# (`FlattenDictItems` makes a flat list of the feeds; it is C++ of another module, `_pywrap_nest`.)

# %%
for action in ("run", "callable", "op", "graphdef", "close"):
    try:
        print(f"{action:<9} {', '.join(boundary(action))}")
    except NotImplementedError:
        print(f"{action:<9} boundary is not written yet")


# %% [markdown]
# ## 2. The other side: a C API
#
# A C++ library cannot be called by everyone: names are mangled, exceptions and templates belong to one compiler. A C
# function can be called from anything. So TensorFlow's face to other languages is `tensorflow/c/c_api.h`, by four
# conventions that stand at its head: names begin with `TF_`, every object is a pointer to an opaque struct, it is made
# and freed by functions of the API, and what can go wrong is written into a `TF_Status`.
#
# The function below is a whole session: a graph with a `Const` and a `Square`, a session, one step, and the way back.
# It is run in a process of its own. Python's `ctypes` needs no compiler; it believes what it is told about types.

# %%
def square_in_c(library: str, value: float) -> dict:
    """Squares a number in a TensorFlow session, by calls of the C API alone; what it found, and all calls."""
    import ctypes
    import sys

    tf_c = ctypes.CDLL(library)
    pointer = ctypes.c_void_p
    log = []

    class Output(ctypes.Structure):  # TF_Output: one output of an operation
        _fields_ = [("oper", ctypes.c_void_p), ("index", ctypes.c_int)]

    def c(name, returns, *arguments):
        """One call. `returns` and the types of the arguments are what the header declares."""
        function = getattr(tf_c, name)
        function.restype, function.argtypes = returns, [type(argument) for argument in arguments]
        result = function(*arguments)
        log.append((name, [a.value for a in arguments if type(a) is pointer], result if returns is pointer else None))
        return pointer(result) if returns is pointer else result

    def check():
        if c("TF_GetCode", ctypes.c_int, status):
            raise RuntimeError(c("TF_Message", ctypes.c_char_p, status).decode())

    def finish(description):
        operation = c("TF_FinishOperation", pointer, description, status)
        check()
        return operation

    version = c("TF_Version", ctypes.c_char_p).decode()
    status, graph = c("TF_NewStatus", pointer), c("TF_NewGraph", pointer)
    # A tensor of rank 0: no dimensions, 4 bytes. TF_FLOAT is 1.
    dims = ctypes.c_void_p()
    tensor = c("TF_AllocateTensor", pointer, ctypes.c_int(1), dims, ctypes.c_int(0), ctypes.c_size_t(4))
    ctypes.c_float.from_address(c("TF_TensorData", pointer, tensor).value).value = value
    # A node is described first, then finished: a Const, and a Square that reads it.
    text = ctypes.c_char_p
    constant = c("TF_NewOperation", pointer, graph, text(b"Const"), text(b"x"))
    c("TF_SetAttrType", None, constant, text(b"dtype"), ctypes.c_int(1))
    c("TF_SetAttrTensor", None, constant, text(b"value"), tensor, status)
    check()
    square = c("TF_NewOperation", pointer, graph, text(b"Square"), text(b"y"))
    c("TF_AddInput", None, square, Output(finish(constant).value, 0))
    fetch = Output(finish(square).value, 0)
    options = c("TF_NewSessionOptions", pointer)
    session = c("TF_NewSession", pointer, graph, options, status)
    check()
    # Feeds and targets: none. The one result is written into an array of pointers.
    results, null, none = (pointer * 1)(), pointer(), ctypes.c_int(0)
    one = [ctypes.byref(fetch), results, ctypes.c_int(1)]
    tf_c.TF_SessionRun.argtypes = tf_c.TF_SessionRun.restype = None
    tf_c.TF_SessionRun(session, null, null, null, none, *one, null, none, null, status)
    log.append(("TF_SessionRun", [session.value, status.value], results[0]))
    check()
    result = pointer(results[0])
    squared = ctypes.c_float.from_address(c("TF_TensorData", pointer, result).value).value
    # The way back. A finished description belongs to the graph; everything else is ours to free.
    c("TF_DeleteTensor", None, result)
    c("TF_CloseSession", None, session, status)
    check()
    c("TF_DeleteSession", None, session, status)
    check()
    c("TF_DeleteSessionOptions", None, options)
    c("TF_DeleteGraph", None, graph)
    c("TF_DeleteTensor", None, tensor)
    c("TF_DeleteStatus", None, status)
    return {"version": version, "squared": squared, "imported": "tensorflow" in sys.modules, "log": log}


alone = in_fresh_process(square_in_c, LIBRARY, 3.0).value
print(f"TensorFlow {alone['version']}: the square of 3.0 is {alone['squared']}")
print(f'"tensorflow" in sys.modules → {alone["imported"]}; calls: {len(alone["log"])}')

# %% [markdown]
# What it called, and which object lived from which call to which:

# %%
MAKES = {
    "TF_NewStatus": "status",
    "TF_NewGraph": "graph",
    "TF_AllocateTensor": "value",
    "TF_NewOperation": "description",
    "TF_NewSessionOptions": "session options",
    "TF_NewSession": "session",
    "TF_SessionRun": "result",
}


def c_call(name: str, makes: tuple, uses: tuple, frees: tuple) -> view.CCall:
    """One call for `view.lifetimes`. A session stands on its graph, which must not be freed before it."""
    return view.CCall(name, makes, uses, frees, within=("graph",) if name == "TF_NewSession" else ())


def lives(log: list[tuple[str, list[int], int | None]]) -> list[view.CCall]:
    """The log of C calls with names instead of addresses; pointers into other objects are left out."""
    alive, calls = {}, []
    for name, addresses, result in log:
        touched = [alive[address] for address in addresses if address in alive]
        frees = touched[:1] if name.startswith("TF_Delete") or name == "TF_FinishOperation" else []
        made = ()
        if name in MAKES:
            count = sum(call.name == name for call in calls)
            made = (MAKES[name] + (f" {count + 1}" if count else ""),)
            alive[result] = made[0]
        calls.append(c_call(name, made, tuple(touched[len(frees) :]), tuple(frees)))
        alive = {address: label for address, label in alive.items() if label not in frees}
    return calls


view.lifetimes(lives(alone["log"]), title="A session through the C API: who lives when")

# %% [markdown]
# Count the calls of `TF_GetCode`. A C function cannot raise. It fills in the status, returns, and the next call clears
# it: an error that nobody looks at is gone. These are the codes (they are those of gRPC):
#
# | code | name | code | name | code | name |
# | --- | --- | --- | --- | --- | --- |
# | 0 | OK | 6 | ALREADY_EXISTS | 12 | UNIMPLEMENTED |
# | 1 | CANCELLED | 7 | PERMISSION_DENIED | 13 | INTERNAL |
# | 2 | UNKNOWN | 8 | RESOURCE_EXHAUSTED | 14 | UNAVAILABLE |
# | 3 | INVALID_ARGUMENT | 9 | FAILED_PRECONDITION | 15 | DATA_LOSS |
# | 4 | DEADLINE_EXCEEDED | 10 | ABORTED | 16 | UNAUTHENTICATED |
# | 5 | NOT_FOUND | 11 | OUT_OF_RANGE | | |
#
# ### Exercise 2 · Which status? (1 point)
#
# There is no op type of the name NoSuchOp. `TF_NewOperation(graph, "NoSuchOp", "n")` gives a description all the same:
# it has no status to fill in. `TF_FinishOperation` has one, and tells it. Set `CODE` to the code, an `int`, that
# `TF_GetCode` gives then. Decide before you run anything.

# %% nbgrader={"grade": false, "grade_id": "predict-code", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# CODE = ...
### BEGIN SOLUTION
CODE = 3
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "predict-code-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(CODE) is int, f"CODE is an int, the number of a code; it is a {type(CODE).__name__}"
assert 0 <= CODE <= 16, f"CODE is one of the codes of the table, 0 to 16; it is {CODE}"


### BEGIN HIDDEN TESTS
def real_code():
    """The code of an op type that does not exist, from the library."""
    library, pointer = ctypes.CDLL(LIBRARY), ctypes.c_void_p
    for name in ("TF_NewStatus", "TF_NewGraph", "TF_NewOperation", "TF_FinishOperation"):
        getattr(library, name).restype = pointer
    status, graph = pointer(library.TF_NewStatus()), pointer(library.TF_NewGraph())
    description = pointer(library.TF_NewOperation(graph, b"NoSuchOp", b"n"))
    library.TF_FinishOperation(description, status)
    code = library.TF_GetCode(status)
    library.TF_DeleteGraph(graph)
    library.TF_DeleteStatus(status)
    return code


code_by_library = real_code()
assert code_by_library == CODE, (
    "TF_GetCode gives another code. Whose fault is it, in the eyes of TF_FinishOperation: is something missing in the "
    "library, or is what it was handed not a valid node?"
)
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-code"
# INVALID_ARGUMENT, although the registry itself says NOT_FOUND (`OpNotFound` in core/framework/op.cc). The description
# holds a `NodeDefBuilder` (core/framework/node_def_builder.cc), which collects the texts of what it does not like and
# reports them at the end, in `Finalize`, as one invalid argument. Python makes the class of an exception of the number,
# by the table in python/framework/errors_impl.py.

# %% [markdown]
# ## 3. Who writes the code in between?
#
# In 1.x a program did: SWIG, the Simplified Wrapper and Interface Generator. It reads declarations of C, and writes C
# that Python can load. TensorFlow fed it `tf_session.i`, which included `c_api.h` as it stood and named the functions
# that were wanted. SWIG wrote one wrapper for each. Here is what it has to read:

# %% nbgrader={"grade": false, "grade_id": "given-header", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
HEADERS = ("c_api.h", "tf_tensor.h", "tf_status.h", "tf_buffer.h", "tf_datatype.h")


class Function(NamedTuple):
    """A function of a C header: its name, the type that it returns, and the types of its arguments. Given."""

    name: str
    returns: str
    arguments: list[str]


def header(name: str) -> str:
    """The text of one of the installed HEADERS. Given."""
    return (PACKAGE / "include" / "tensorflow" / "c" / name).read_text(encoding="utf-8")


# %%
c_api = header("c_api.h").splitlines()
start = next(number for number, line in enumerate(c_api) if "extern void TF_SetTarget(" in line)
print(*c_api[start - 8 : start + 20], sep="\n")

# %% [markdown]
# ### Exercise 3 · Read a header as SWIG does (4 points)
#
# Write `prototypes(text: str) -> list[Function]`: all functions of a header that are declared with
# `TF_CAPI_EXPORT extern … ;`, in the order of the text.
#
# - A declaration may go over several lines. What stands in comments, `// …` and `/* … */`, does not count, not even
#   inside a declaration: a comment is a space. Everything else is skipped: types, macros, functions without `extern`.
# - Types stand as written, `const` included, but without the parameter's name (which may be missing as it is), with one
#   space between words and none before `*`: `const char* const*`, `TF_Graph*`, `unsigned char`, `const void*`.
# - `(void)` and `()` mean no arguments. `T x[]` and `T x[5]` become `T*`.
# - A pointer to a function is one argument, whose own name goes: `void (*deallocator)(void* data, size_t len)` becomes
#   `void (*)(void* data, size_t len)`. Names inside its second parentheses may stay or go.
#
# Return types are words and stars only, and no argument has a default. Built-in types are made of the words `int`,
# `char`, `float`, `double`, `bool`, `unsigned`, `long`, `short`, `void`; every other type is one name (`TF_Output`,
# `size_t`, `int64_t`). Whatever word is left, `const` aside, is the parameter's name.
#
# The judge is the C++ compiler: the given `read_wrongly` has it compare each of your functions with what it read in
# TensorFlow's own header.
#
# ```
# >>> prototypes("TF_CAPI_EXPORT extern void TF_Add(TF_Graph* g,  // the graph\n    const TF_Output x, int);")
# [Function(name='TF_Add', returns='void', arguments=['TF_Graph*', 'const TF_Output', 'int'])]
# ```
#
# <details><summary>Hint 1</summary>
#
# First take the comments out, then one regular expression finds all declarations: `[^;]*` goes over lines. In a
# declaration the first `(` ends the name, and the last `)` ends the arguments. Commas count only outside of
# parentheses.
# </details>
#
# <details><summary>Hint 2</summary>
#
# An argument as a list of tokens, `re.findall(r"\w+|\*", argument)`. If the last one is a word and something before it
# can already be the type, that is, a star or a word that is not `const`, the last one is a name, unless it is built
# in (`unsigned char`). Brackets, and `(*name)`, are dealt with before that.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-judge", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
JUDGE = """#include <type_traits>
#include "tensorflow/c/c_api.h"
template <class R, class... A> struct function_type { using type = R(A...); };
"""


def bare_words(text: str) -> set[str]:
    """The words of a C text, without comments."""
    return set(re.findall(r"\w+", re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)))


def assert_functions(case: str, got: object, words: set[str]) -> None:
    """Assert that an answer is a list of Function whose types are made of these words. Given."""
    assert type(got) is list, f"{case}: prototypes returns a list, not a {type(got).__name__}"
    for function in got:
        assert type(function) is Function, f"{case}: each entry is a Function, found {function!r}"
        assert type(function.arguments) is list, f"{case}: arguments is a list, found {function!r}"
        for text in (function.name, function.returns, *function.arguments):
            assert type(text) is str, f"{case}: names and types are str, found {function!r}"
        assert re.fullmatch(r"\w+", function.name), f"{case}: {function.name!r} is no name of a function"
        for text in (function.returns, *function.arguments):
            plain = re.fullmatch(r"[\w\s*(),]+", text) and text.count("(") == text.count(")")
            assert plain, f"{case}: {function.name}: {text!r} is no type"
            strange = set(re.findall(r"\w+", text)) - words | ({function.name} & set(re.findall(r"\w+", text)))
            assert not strange, (
                f"{case}: {function.name}: the type {text!r} has words that no type there has: {strange}"
            )


def read_wrongly(functions: list[Function], text: str = "") -> list[str]:
    """The names of those functions that the compiler knows by other types, or not at all. Given.

    Args:
        text: declarations beside those of TensorFlow's headers.

    Raises:
        FileNotFoundError: there is no C++ compiler.
    """
    source = JUDGE + text + "\n"
    first = source.count("\n") + 1
    for name, returns, arguments in functions:
        types = ", ".join([returns, *arguments])
        source += f'static_assert(std::is_same<decltype({name}), function_type<{types}>::type>::value, "");\n'
    command = [find_compiler(), "-fsyntax-only", "-std=c++17", f"-I{PACKAGE / 'include'}", "-x", "c++", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    lines = {int(line) - first for line in re.findall(r"<stdin>:(\d+):\d+: error", done.stderr)}
    return [function.name for number, function in enumerate(functions) if number in lines]


# %% nbgrader={"grade": false, "grade_id": "prototypes", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def prototypes(text: str) -> list[Function]:
    """The functions that a header declares with `TF_CAPI_EXPORT extern`, in order."""
    ### BEGIN SOLUTION
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments: str) -> list[str]:
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument: str) -> str:
        if "(*" in argument.replace(" ", ""):
            return re.sub(r"\(\s*\*\s*\w*\s*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "prototypes-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
three = """
// TF_CAPI_EXPORT extern void TF_Not(int counted);
TF_CAPI_EXPORT extern void TF_Add(TF_Graph* g,  // the graph; not "void"
                                  const TF_Output x, int);
TF_CAPI_EXPORT void TF_WithoutExtern(int x);
TF_CAPI_EXPORT extern const char* TF_Name(void);
TF_CAPI_EXPORT extern int64_t TF_Sum(const int64_t values[], unsigned char how);
"""
got = answer_to("three functions", (), prototypes, three)
assert_functions("three functions", got, bare_words(three))
assert got == [
    Function("TF_Add", "void", ["TF_Graph*", "const TF_Output", "int"]),
    Function("TF_Name", "const char*", []),
    Function("TF_Sum", "int64_t", ["const int64_t*", "unsigned char"]),
], f"three functions are declared in the text of this test; found {got}"


### BEGIN HIDDEN TESTS
OWN = """
/* TF_CAPI_EXPORT extern int TF_InAComment(int x); over
   two lines; */
typedef struct TF_Lab TF_Lab; typedef int TF_Kind;
// see c/*.h
TF_CAPI_EXPORT extern TF_Lab *TF_NewLab();
TF_CAPI_EXPORT extern int TF_Comments(int x /* as in http://a.b */, const/**/char* y, int /* z */);  // the end */
TF_CAPI_EXPORT extern void TF_Arrays(const float x[5], TF_Lab* all[], TF_Kind kinds [ 2 ], const char* (*named)(int, TF_Kind));
TF_CAPI_EXPORT
extern void
TF_Visit(TF_Lab * lab, void (*visitor)(const char* key, int (*inner)(int, char), void* capture),
         /* what is handed on: a, b */ void* capture, const TF_Kind kinds[], int n);
TF_CAPI_EXPORT extern const char *const *TF_Keys(const TF_Lab*, size_t *length, const TF_Kind, char const *const *only);
#define TF_CAPI_EXPORT_TWICE(x) extern int x(void);
TF_CAPI_EXPORT extern unsigned char TF_Is(const TF_Lab* lab, unsigned int, long long, bool yes, double (*)(float x), TF_Output o);
"""


def declared(text):
    """Names of the functions that a header declares with extern."""
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    return re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+[^;(]*?(\w+)\s*\(", bare)


answers = {}
for name, text in [*((name, header(name)) for name in HEADERS), ("a header of the test's", OWN)]:
    answers[name] = answer_to(name, (), prototypes, text)
    assert_functions(name, answers[name], bare_words(text))
    want = declared(text)
    named = [function.name for function in answers[name]]
    missing, extra = [n for n in want if n not in named], [n for n in named if n not in want]
    assert named == want, (
        f"{name} declares {len(want)} functions, yours {len(named)}; missing {missing}, too many {extra}"
    )
    for function in answers[name]:
        for text in (function.returns, *function.arguments):
            neat = text == " ".join(text.split()) and " *" not in text
            assert neat or "(" in text, f"{name}: {function.name}: one space between words, none before *: {text!r}"
everything = [function for functions in answers.values() for function in functions]
wrong = read_wrongly(everything, OWN)
assert not wrong, f"the compiler reads {len(wrong)} functions with other types than yours, such as " + "; ".join(
    str(function) for function in everything if function.name in wrong[:3]
)
### END HIDDEN TESTS

# %% [markdown] after_passing="prototypes"
# You read the five headers as the compiler did, and a header that was written to be difficult. SWIG has a parser of C
# and C++ for this (its Source/CParse), and read `c_api.h` whole, by an `%include` in python/client/tf_session.i. Three
# functions are missing from your list, `TF_AddGradients` among them: the headers declare them without `extern`. Ours
# takes comments out first, so that nothing else has to know of them.

# %% [markdown]
# From here on the declarations of the five headers are given as `GIVEN_PROTOTYPES`, by name.
#
# What follows needs the C++ library in a process that can be lost: a wrong pointer does not raise an error in C, it ends
# the process. The given helper starts one that has loaded the library, without importing TensorFlow, and forks for each
# job. Of its text `C_CALLS` is worth reading: the declarations of the header become `argtypes` and `restype` of
# `ctypes`, by themselves.

# %% nbgrader={"grade": false, "grade_id": "given-library-process", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
# Runs in processes that do not import TensorFlow.
C_CALLS = """
import ctypes


class Output(ctypes.Structure):  # TF_Output
    _fields_ = [("oper", ctypes.c_void_p), ("index", ctypes.c_int)]


# Types of the header for ctypes. Every other type that is used here is a pointer.
TYPES = {
    "void": None, "int": ctypes.c_int, "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t,
    "TF_DataType": ctypes.c_int, "TF_Code": ctypes.c_int, "const char*": ctypes.c_char_p, "TF_Output": Output,
}


def array(kind, values):
    return (kind * max(1, len(values)))(*values)


class Calls:
    # calls(NAME, *arguments): NULL is 0, text is str, an array is a list and brings its length along

    def __init__(self, library, functions):
        self.library = library
        for name, returns, arguments in functions:
            function = getattr(library, name)
            function.restype = TYPES.get(returns, ctypes.c_void_p)
            function.argtypes = [TYPES.get(text, ctypes.c_void_p) for text in arguments]

    def __call__(self, name, *arguments):
        if name in SPECIAL:
            return SPECIAL[name](self.library, *arguments)
        function = getattr(self.library, name)
        result = function(*[argument.encode() if type(argument) is str else argument for argument in arguments])
        if function.restype is ctypes.c_char_p:
            return result.decode()
        return 0 if result is None and function.restype is ctypes.c_void_p else result


def allocate(library, dtype, dims, size):
    return library.TF_AllocateTensor(dtype, array(ctypes.c_int64, dims), len(dims), size) or 0


def run(library, session, inputs, tensors, outputs, status):
    results = array(ctypes.c_void_p, [None] * len(outputs))
    feeds = array(Output, inputs), array(ctypes.c_void_p, tensors), len(inputs)
    fetches = array(Output, outputs), results, len(outputs)
    library.TF_SessionRun(session, None, *feeds, *fetches, None, 0, None, status)
    return [result or 0 for result in results[: len(outputs)]]


SPECIAL = {
    "TF_AllocateTensor": allocate,
    "TF_SessionRun": run,
    "write": lambda library, address, data: ctypes.memmove(address, data, len(data)) and None,
    "read": lambda library, address, size: ctypes.string_at(address, size) if size else b"",
}
"""
SERVE = """
import importlib, os, pickle, re, signal, sys


def exactly(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            os._exit(0)
        data += more
    return data


def receive():
    return pickle.loads(exactly(int.from_bytes(exactly(8), "little")))


def send(*answer):
    data = pickle.dumps(answer)
    data = len(data).to_bytes(8, "little") + data
    while data:
        data = data[os.write(1, data):]


def serve_calls(functions):
    # answer one call after the other, until None is sent
    calls = Calls(library, functions)
    send("value", "tensorflow" in sys.modules)
    while (request := receive()) is not None:
        send("value", calls(*request))


def told(result):
    # a value, or the kind of a pointer
    if type(result).__name__ == "PyCapsule":
        name = ctypes.pythonapi.PyCapsule_GetName
        name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
        return "pointer", (name(result) or b"").decode()
    if type(result).__name__ == "SwigPyObject":
        return "pointer", re.search("of type '(.*)' at", repr(result))[1].replace(" *", "*")
    return "value", result


def use_module(folder, steps):
    # import the module mini and make calls of it; an argument ("made", i) is what step i gave
    sys.path.insert(0, folder)
    try:
        module = importlib.import_module("mini")
        counters = ctypes.CDLL(next(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".so")))
    except Exception as error:
        return send("failed", f"the module cannot be imported: {error}")
    results, outcomes = [], []
    for name, arguments in steps:
        results.append(None)
        try:
            if name == "lab_alive":
                results[-1] = ctypes.c_long.in_dll(counters, name).value
            else:
                made = [results[a[1]] if type(a) is tuple and a[:1] == ("made",) else a for a in arguments]
                results[-1] = getattr(module, name)(*made)
            outcomes.append(told(results[-1]))
        except Exception as error:
            outcomes.append(("error", type(error).__name__, str(error)))
    send("value", outcomes)


library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
JOBS = {"calls": serve_calls, "module": use_module}
while True:
    job, *arguments = receive()
    child = os.fork()
    if child == 0:
        signal.alarm(60 if job == "module" else 600)
        try:
            JOBS[job](*arguments)
        finally:
            os._exit(0)
    send("ended", os.waitpid(child, 0)[1])
"""


class LibraryError(Exception):
    """A job of the library process came to a bad end; the message says which. Given."""


class LibraryProcess:
    """A process with TensorFlow's C++ library, in which TensorFlow is not imported. It ends with this one. Given."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", C_CALLS + SERVE, LIBRARY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        self.idle = True  # it waits for a job

    def send(self, request: object) -> None:
        """A job, or a request to the job that runs."""
        data = pickle.dumps(request)
        self.idle = False
        self._process.stdin.write(len(data).to_bytes(8, "little") + data)

    def receive(self) -> object:
        """The next answer of a job.

        Raises:
            LibraryError: the job ended without one, or gave none for a minute.
        """
        kind, answer = pickle.loads(self._exactly(int.from_bytes(self._exactly(8), "little")))
        if kind == "value":
            return answer
        if kind == "failed":
            self.ended()
            raise LibraryError(answer)
        self.idle, code = True, os.waitstatus_to_exitcode(answer)
        raise LibraryError(f"the C code ended its process by {signal.Signals(-code).name}" if code < 0 else "it ended")

    def ended(self) -> None:
        """Wait until the job's process has ended."""
        with contextlib.suppress(LibraryError):
            self.receive()

    def close(self) -> None:
        """End the process now, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            if not select.select([self._process.stdout], [], [], 60)[0]:
                raise LibraryError("no answer for a minute")
            more = self._process.stdout.read(size - len(data))
            if not more:
                raise LibraryError("the library process is gone")
            data += more
        return data


@cache
def _library_process() -> LibraryProcess:
    return LibraryProcess()


def end_library_process() -> None:
    """End the library process of this kernel, if there is one. The next user gets a new one. Given."""
    if _library_process.cache_info().currsize:
        _library_process().close()
        _library_process.cache_clear()


@contextlib.contextmanager
def library_process() -> Iterator[LibraryProcess]:
    """The one library process of this kernel. Where its job has not ended, the next user gets a new one."""
    process = _library_process()
    try:
        yield process
    finally:
        if not process.idle:
            end_library_process()


def _given_prototypes() -> dict[str, Function]:
    """What the compiler was shown above; read in another way, for the helpers."""
    found = {}
    for text in map(header, HEADERS):
        bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
        for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", bare):
            returns, name, inside = re.fullmatch(r"\s*(.*?)(\w+)\s*\((.*)\)\s*", declaration, re.DOTALL).groups()
            arguments = re.split(r",(?![^()]*\))", inside)
            types = [] if inside.strip() in ("", "void") else [_type_alone(argument) for argument in arguments]
            found[name] = Function(name, _type_alone(returns + " x"), types)
    return found


def _type_alone(argument: str) -> str:
    argument = " ".join(argument.split())
    if "(*" in argument:
        return re.sub(r"\(\*\w*\)", "(*)", argument, count=1)
    named = re.fullmatch(r"(.*[\w*] ?[ *])(?!int$|char$)\w+", argument)
    without = named[1] if named and named[1].strip() != "const" else argument
    return re.sub(r"\s*\*", "*", without).strip()


GIVEN_PROTOTYPES = _given_prototypes()

# %%
for name in ("TF_NewSession", "TF_SessionRun"):
    print(GIVEN_PROTOTYPES[name])


# %% [markdown]
# Now SWIG itself. An *interface file* says what to wrap: between `%{` and `%}` stands C that goes into the wrapper as it
# is, the rest are declarations that SWIG reads, and commands that begin with `%`. SWIG writes a C file and a Python
# file; a C compiler makes a module of the first.

# %% nbgrader={"grade": false, "grade_id": "given-build", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def made(step: int) -> tuple[str, int]:
    """As an argument of a call: what the call number `step` of the same list gave. Given."""
    return "made", step


@lru_cache(maxsize=64)
def compiled(source: str) -> bytes:
    """Compile a C text to a module for Python. Nothing is linked: the process has the library. Given.

    Raises:
        LibraryError: the compiler refuses; the message says what it said.
        FileNotFoundError: there is no compiler, or Python's headers are missing.
    """
    folders = [f"-I{find_python_headers()}", f"-I{PACKAGE / 'include'}"]
    loose = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    options = ["-shared", "-fPIC", "-w", "-Werror=implicit-function-declaration", *loose]
    with tempfile.TemporaryDirectory(prefix="tflabs-") as folder:
        command = [find_compiler(), "-x", "c", *options, *folders, "-", "-o", f"{folder}/module.so"]
        done = subprocess.run(command, input=source, capture_output=True, text=True)
        if done.returncode:
            told = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
            raise LibraryError(f"the C compiler refuses it: {'; '.join(told[:3])}")
        return (Path(folder) / "module.so").read_bytes()


def compile_and_call(source: str, calls: list[tuple[str, list]]) -> list[tuple]:
    """Compile the C source of a module `mini`, and call functions of it in a process with TensorFlow's library. Given.

    Returns:
        For each call ("value", its result), ("pointer", the capsule's name) or ("error", type, text).

    Raises:
        LibraryError: it does not compile, cannot be imported, or ends its process.
    """
    return called({"mini.so": compiled(source)}, calls)


def called(files: dict[str, bytes], calls: list[tuple[str, list]]) -> list[tuple]:
    """Import `mini` from these files in the library process and make calls. Given."""
    with tempfile.TemporaryDirectory(prefix="tflabs-") as folder, library_process() as process:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        process.send(("module", folder, calls))
        outcomes = process.receive()
        process.ended()
        return outcomes


# Stands before what SWIG writes: statuses that are made and freed by the wrappers are counted. And one more function.
COUNTED = """#include <tensorflow/c/c_api.h>
long lab_alive = 0;
static TF_DataType lab_type(TF_Code code) { return (TF_DataType)code; }
static TF_Status* lab_NewStatus(void) { lab_alive++; return TF_NewStatus(); }
static void lab_DeleteStatus(TF_Status* status) { if (status) lab_alive--; TF_DeleteStatus(status); }
#define TF_NewStatus lab_NewStatus
#define TF_DeleteStatus lab_DeleteStatus
"""


@lru_cache(maxsize=64)
def swig(interface: str) -> tuple[str, bytes]:
    """The C text and the Python file that SWIG writes for an interface file of the module `mini`. Given.

    Raises:
        LibraryError: SWIG refuses; the message says what it said.
        FileNotFoundError: there is no SWIG.
    """
    with tempfile.TemporaryDirectory(prefix="tflabs-") as folder:
        here = Path(folder)
        (here / "mini.i").write_text(interface, encoding="utf-8")
        done = subprocess.run([*find_swig(), "-python", "mini.i"], cwd=here, capture_output=True, text=True)
        if done.returncode or not (here / "mini_wrap.c").exists() or not (here / "mini.py").exists():
            raise LibraryError(f"SWIG refuses it, or the module is not called mini: {done.stderr[:300]}")
        return (here / "mini_wrap.c").read_text(encoding="utf-8"), (here / "mini.py").read_bytes()


def swig_and_call(interface: str, calls: list[tuple[str, list]]) -> list[tuple]:
    """Build the module `mini` from an interface file, and call functions of it. As `compile_and_call`. Given.

    The call ("lab_alive", []) gives the number of statuses that were made and not yet freed.
    """
    written, python = swig(interface)
    return called({"_mini.so": compiled(COUNTED + written), "mini.py": python}, calls)


# %%
INTERFACE = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
const char* TF_Version(void);
TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status*);
int TF_GetCode(const TF_Status*);
TF_Graph* TF_NewGraph(void);
void TF_DeleteGraph(TF_Graph*);
"""
written, _ = swig(INTERFACE)
print(
    f"{INTERFACE.count(chr(10))} lines became {written.count(chr(10))} of C, most of them the same in every module. One wrapper:\n"
)
print(re.search(r"SWIGINTERN PyObject \*_wrap_TF_GetCode.*?\n}", written, re.DOTALL)[0])

# %% [markdown]
# Take the object apart (`SWIG_ConvertPtr`), call C (`result = …`), make an object (`SWIG_From_int`): every wrapper has
# these three parts, and an exit for what goes wrong. And so it is used; a list of calls is made in the library process,
# and `made(0)` stands for what call number 0 gave:

# %%
calls = [("TF_Version", []), ("TF_NewStatus", []), ("TF_GetCode", [made(1)]), ("TF_NewGraph", [])]
calls += [
    ("TF_GetCode", [made(3)]),
    ("TF_GetCode", ["text"]),
    ("TF_DeleteGraph", [made(3)]),
    ("TF_DeleteStatus", [made(1)]),
]
for (name, arguments), outcome in zip(calls, swig_and_call(INTERFACE, calls), strict=True):
    print(f"{name}({', '.join(map(str, arguments))}): {outcome}")

# %% [markdown]
# SWIG's pointers know their type: a graph where a status is due is a `TypeError`, not a crash. That knowledge is all
# there is between a typing error and a segmentation fault.
#
# ### Exercise 4 · Write what SWIG writes (4 points)
#
# Write `wrapper(f: Function) -> str`: the text of a C function
# `static PyObject* wrap_NAME(PyObject* self, PyObject* args)` that takes its arguments out of the tuple `args`, calls
# NAME with them and returns the result as an object. (The given `extension` puts wrappers into a module.) Types are
# written as in exercise 3.
#
# - Types in the given `FORMAT` are passed by value: its entry is the letter for `PyArg_ParseTuple`, and the function
#   that makes an object of a result.
# - A pointer to a type of TensorFlow's, `TF_X*` or `const TF_X*` with one star, is a `PyCapsule` in Python, in both
#   directions. The capsule's name is the type without `const`, such as `TF_Status*`, so that a status made by one
#   function can be read by another. It has no destructor.
# - A capsule of another name, or an object that is no capsule, raises `ValueError` (`PyCapsule_GetPointer` sets it and
#   returns NULL); a wrong number of arguments, or a wrong kind of object for a type in FORMAT, `TypeError`
#   (`PyArg_ParseTuple` does). NAME is not called then.
# - A NULL that comes back, pointer or `const char*`, becomes `None`. `void` gives `None`, too.
# - `wrapper` itself raises `ValueError` with the type in its message if an argument or the result has any other type.
#
# For `Function("TF_Version", "const char*", [])` this would do:
#
# ```c
# static PyObject* wrap_TF_Version(PyObject* self, PyObject* args) {
#   if (!PyArg_ParseTuple(args, ":TF_Version")) return NULL;
#   const char* result = TF_Version();
#   if (!result) Py_RETURN_NONE;
#   return PyUnicode_FromString(result);
# }
# ```
#
# <details><summary>Hint 1</summary>
#
# Write the wrapper of `TF_GetCode` by hand first: a `PyObject*` for the capsule, `PyArg_ParseTuple(args,
# "O:TF_GetCode", &o0)`, then the pointer. Then ask of each line how it follows from the list of argument types.
# </details>
#
# <details><summary>Hint 2</summary>
#
# For argument number i: a declaration (`TYPE a0;`, for a pointer also `PyObject* o0;`), a letter of the format (`O` for
# a pointer), an address for `PyArg_ParseTuple` (`&a0` or `&o0`), and for a pointer a conversion
# `a0 = (TYPE)PyCapsule_GetPointer(o0, "NAME"); if (!a0) return NULL;`. For the result there are four cases: void, a
# pointer (`PyCapsule_New((void*)result, "NAME", NULL)`), `const char*`, and the rest.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-extension", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
FORMAT = {
    "int": ("i", "PyLong_FromLong"),
    "double": ("d", "PyFloat_FromDouble"),
    "const char*": ("s", "PyUnicode_FromString"),
    "size_t": ("n", "PyLong_FromSize_t"),
    "TF_DataType": ("i", "PyLong_FromLong"),
    "TF_Code": ("i", "PyLong_FromLong"),
}


def extension(wrappers: dict[str, str], before: str = "") -> str:
    """The C source of a module `mini` with these wrappers, by the names of their functions. Given."""
    table = "\n".join(f'  {{"{name}", wrap_{name}, METH_VARARGS, NULL}},' for name in wrappers)
    return f"""#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <tensorflow/c/c_api.h>
{before}
{chr(10).join(wrappers.values())}
static PyMethodDef methods[] = {{
{table}
  {{NULL, NULL, 0, NULL}}
}};
static struct PyModuleDef definition = {{PyModuleDef_HEAD_INIT, "mini", NULL, -1, methods}};
PyMODINIT_FUNC PyInit_mini(void) {{ return PyModule_Create(&definition); }}
"""


def outcomes_of(case: str, run: Callable, text: str, calls: list[tuple[str, list]]) -> list[tuple]:
    """What `compile_and_call` or `swig_and_call` gives; a bad end is an AssertionError that names the case. Given."""
    try:
        return run(text, calls)
    except LibraryError as error:
        raise AssertionError(f"{case}: {error}") from error


def assert_outcomes(case: str, calls: list[tuple[str, list]], got: list[tuple], want: list[tuple]) -> None:
    """Assert what became of each call. Of an error the type counts, and the text where one is wanted. Given."""
    assert len(got) == len(want) == len(calls), f"{case}: {len(want)} outcomes are due, found {len(got)}"
    for number, due in enumerate(want):
        name, arguments = calls[number]
        before = "; ".join(f"{earlier}{tuple(rest)}" for earlier, rest in calls[max(0, number - 3) : number])
        found = got[number][: len(due)]
        same = found == due and [type(part) for part in found] == [type(part) for part in due]
        assert same, (
            f"{case}: {name}{tuple(arguments)} gives {got[number]}, due is {due}; called before: {before or '-'}"
        )


# %% nbgrader={"grade": false, "grade_id": "wrapper", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def wrapper(f: Function) -> str:
    """The text of the C function `wrap_NAME`, through which Python calls `f`.

    Raises:
        ValueError: a type is neither in FORMAT nor a pointer to a type of TensorFlow's; the message has the type.
    """

    ### BEGIN SOLUTION
    def capsule(text: str) -> str:
        name = text.removeprefix("const ")
        if not re.fullmatch(r"TF_\w+\*", name):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return name

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0]
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1]}(result);\n"
    else:
        end = f"  {f.returns} result = {call};\n  if (!result) Py_RETURN_NONE;\n"
        end += f'  return PyCapsule_New((void*)result, "{capsule(f.returns)}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "wrapper-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – C code that an answer wrote is compiled and run, which belongs into the box of the answer
texts = {}
for name in ("TF_Version", "TF_NewStatus", "TF_GetCode", "TF_Message", "TF_DeleteStatus"):
    texts[name] = answer_to(name, (), wrapper, GIVEN_PROTOTYPES[name])
    assert type(texts[name]) is str, f"wrapper returns the text of a C function, not a {type(texts[name]).__name__}"
    assert f"wrap_{name}(" in texts[name], f"the C function is called wrap_{name}; its text is {texts[name]!r}"
calls = [("TF_Version", []), ("TF_NewStatus", []), ("TF_GetCode", [made(1)]), ("TF_Message", [made(1)])]
calls += [("TF_GetCode", []), ("TF_GetCode", ["text"]), ("TF_DeleteStatus", [made(1)])]
due = [("value", tf.version.VERSION), ("pointer", "TF_Status*"), ("value", 0), ("value", "")]
due += [("error", "TypeError"), ("error", "ValueError"), ("value", None)]
got = outcomes_of("five functions", compile_and_call, extension(texts), calls)
assert_outcomes("five functions", calls, got, due)


### BEGIN HIDDEN TESTS
OWN_C = """
static int calls_made = 0;
static int lab_count(void) { return calls_made; }
static double lab_mix(int a, double b, size_t c, TF_DataType d) { calls_made++; return a + 10 * b + 100.0 * c + 1000 * d; }
static const char* lab_text(const char* text, int yes) { return yes ? text : NULL; }
static size_t lab_size(int most) { return most ? (size_t)-1 : 7; }
static TF_Tensor* lab_nothing(const TF_Graph* graph) { calls_made++; return NULL; }
static const TF_Graph* lab_same(const TF_Graph* graph, const TF_Status* status) { calls_made++; return graph; }
static void lab_void(TF_Graph* graph, int a, const TF_Status* status) { calls_made += a; }
"""
OWN = [
    Function("lab_count", "int", []),
    Function("lab_mix", "double", ["int", "double", "size_t", "TF_DataType"]),
    Function("lab_text", "const char*", ["const char*", "int"]),
    Function("lab_size", "size_t", ["int"]),
    Function("lab_nothing", "TF_Tensor*", ["const TF_Graph*"]),
    Function("lab_same", "const TF_Graph*", ["const TF_Graph*", "const TF_Status*"]),
    Function("lab_void", "void", ["TF_Graph*", "int", "const TF_Status*"]),
]


def is_simple(text):
    return text in FORMAT or re.fullmatch(r"(const )?TF_\w+\*", text) is not None


texts, refused = {}, []
for f in [*GIVEN_PROTOTYPES.values(), *OWN]:
    simple = all(map(is_simple, f.arguments)) and (is_simple(f.returns) or f.returns == "void")
    if simple:
        texts[f.name] = answer_to(f.name, (), wrapper, f)
        assert type(texts[f.name]) is str, f"{f}: the text of a C function is due, found {texts[f.name]!r}"
    elif len(refused) < 40:
        refused.append(f)
for f in refused:
    odd = [t for t in (*f.arguments, f.returns) if not is_simple(t) and not (t == "void" and t is f.returns)]
    try:
        got = answer_to(str(f), (ValueError,), wrapper, f)
    except ValueError as error:
        assert any(t in str(error) for t in odd), f"{f}: the message must have one of {odd}; it says {str(error)!r}"
    else:
        raise AssertionError(f"{f}: ValueError is due because of {odd}, found {got!r}")
steps = [
    (("TF_NewStatus", []), ("pointer", "TF_Status*")),
    (("TF_NewGraph", []), ("pointer", "TF_Graph*")),
    (("TF_NewOperation", [made(1), "NoOp", "n"]), ("pointer", "TF_OperationDescription*")),
    (("TF_FinishOperation", [made(2), made(0)]), ("pointer", "TF_Operation*")),
    (("TF_OperationName", [made(3)]), ("value", "n")),
    (("TF_NewOperation", [made(1), "NoSuchOp", "m"]), ("pointer", "TF_OperationDescription*")),
    (("TF_FinishOperation", [made(5), made(0)]), ("value", None)),
    (("TF_GetCode", [made(0)]), ("value", 3)),
    (("lab_mix", [1, 2.5, 3, 4]), ("value", 4326.0)),
    (("lab_mix", [1, 2.5, "3", 4]), ("error", "TypeError")),
    (("lab_mix", [1, 2.5, 3]), ("error", "TypeError")),
    (("lab_text", ["ö", 1]), ("value", "ö")),
    (("lab_text", ["ö", 0]), ("value", None)),
    (("lab_text", [None, 1]), ("error", "TypeError")),
    (("lab_size", [1]), ("value", 2 ** (8 * ctypes.sizeof(ctypes.c_size_t)) - 1)),
    (("lab_nothing", [made(1)]), ("value", None)),
    (("lab_same", [made(1), made(0)]), ("pointer", "TF_Graph*")),
    (("lab_same", [made(16), made(0)]), ("pointer", "TF_Graph*")),
    (("lab_void", [made(1), 5, made(0)]), ("value", None)),
    (("lab_count", []), ("value", 9)),
    (("lab_void", [made(0), 5, made(0)]), ("error", "ValueError")),
    (("lab_void", [made(1), 5, made(1)]), ("error", "ValueError")),
    (("lab_same", [made(0), made(0)]), ("error", "ValueError")),
    (("lab_nothing", [None]), ("error", "ValueError")),
    (("lab_void", [made(1), "5", made(0)]), ("error", "TypeError")),
    (("lab_count", [1]), ("error", "TypeError")),
    (("lab_count", []), ("value", 9)),
    (("TF_DeleteStatus", [made(1)]), ("error", "ValueError")),
    (("TF_GraphOperationByName", [made(1), "n"]), ("pointer", "TF_Operation*")),
    (("TF_GraphOperationByName", [made(1), "none"]), ("value", None)),
    *((("TF_DataTypeSize", [code]), ("value", tf.as_dtype(code).size)) for code in (1, 2, 3, 9, 10, 19)),
]
calls, due = [call for call, _ in steps], [outcome for _, outcome in steps]
built = {name for name, _ in calls} | set(list(texts)[::4])  # to compile all of them takes too long
texts = {name: text for name, text in texts.items() if name in built}
got = outcomes_of(f"{len(texts)} functions", compile_and_call, extension(texts, OWN_C), calls)
assert_outcomes("functions of TensorFlow's and of the test's", calls, got, due)
### END HIDDEN TESTS

# %% [markdown] after_passing="wrapper"
# Your function wraps every function of the five headers whose types are simple, and the pointers know their types. Today
# pybind11 does this (python/client/tf_session_wrapper.cc): `m.def("TF_CloseSession", …)` makes the compiler write
# the wrapper, from the C++ type of the function, through templates. Ours returns before the call whenever a conversion
# failed: a NULL that goes on into C is a crash that nobody can catch.

# %% [markdown]
# ### Exercise 5 · Teach SWIG what a status is (3 points)
#
# A wrapper as faithful as that keeps C's manners: every caller makes a status, passes it, looks at it, frees it. Python
# raises. In SWIG the change is made once, by *typemaps*, which say what is done for all arguments of a type:
#
# - `%typemap(in, numinputs=0) TYPE { … }`: before the call. With `numinputs=0` the argument is not taken from Python; the
#   code must set it.
# - `%typemap(argout) TYPE { … }`: after the call. It may raise: set Python's error, then `SWIG_fail;`.
# - `%typemap(freearg) TYPE { … }`: at the very end, on the way of success and on that of failure.
# - `%apply int { TYPE };`: treat TYPE as an int. Without it SWIG takes an enumeration that it has not seen declared for
#   a struct.
#
# In the code between the braces `$1` is the C argument.
#
# Write `interface(functions: list[Function]) -> str`: the text of an interface file of a module `mini` in which all
# these functions can be called under their own names, such that
#
# - an argument of type `TF_Status*` is not passed from Python. The wrapper makes one, hands it over, and frees it in any
#   case, also when another argument has the wrong type. If its code is not `TF_OK` after the call, `RuntimeError` is
#   raised with its message, `TF_Message`, as the text; else the result is returned as it is.
# - `TF_DataType` and `TF_Code` are ints in Python, as arguments and as results.
#
# Types are those of exercise 4. A type `const TF_Status*` and functions that make or delete a status do not occur. The
# tests build the module and count the statuses that are alive.
#
# ```
# >>> functions = [GIVEN_PROTOTYPES[name] for name in ("TF_NewGraph", "TF_NewOperation", "TF_FinishOperation")]
# >>> calls = [("TF_NewGraph", []), ("TF_NewOperation", [made(0), "NoOp", "n"]), ("TF_FinishOperation", [made(1)])]
# >>> swig_and_call(interface(functions), calls)
# [('pointer', 'TF_Graph*'), ('pointer', 'TF_OperationDescription*'), ('pointer', 'TF_Operation*')]
# ```
#
# <details><summary>Hint 1</summary>
#
# Start from `INTERFACE` above. The typemaps stand before the declarations, for SWIG reads from top to bottom. A
# declaration is put together from the parts of a `Function`.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Three typemaps for `TF_Status*`, one line each: `$1 = TF_NewStatus();`, then
# `if (TF_GetCode($1) != TF_OK) { PyErr_SetString(PyExc_RuntimeError, TF_Message($1)); SWIG_fail; }`, and
# `TF_DeleteStatus($1);`. A typemap without a parameter's name fits every argument of the type.
# </details>

# %% nbgrader={"grade": false, "grade_id": "interface", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def interface(functions: list[Function]) -> str:
    """The text of an interface file for SWIG: module `mini`, in which a status is an exception."""
    ### BEGIN SOLUTION
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_SetString(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
}
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "interface-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – C code that an answer wrote is compiled and run, which belongs into the box of the answer
names = [
    *("TF_NewGraph", "TF_NewOperation", "TF_FinishOperation", "TF_OperationName", "TF_DeleteGraph"),
    *("TF_DataTypeSize", "TF_OperationOutputListLength", "TF_OperationNumInputs", "TF_SetAttrType"),
    *("TF_NewSessionOptions", "TF_NewSession", "TF_CloseSession", "TF_DeleteSession", "TF_DeleteSessionOptions"),
    "TF_SetStatus",
]
wanted = [*(GIVEN_PROTOTYPES[name] for name in names), Function("lab_type", "TF_DataType", ["TF_Code"])]
text = answer_to(", ".join(names), (), interface, wanted)
assert type(text) is str, f"interface returns the text of an interface file, not a {type(text).__name__}"
calls = [("TF_NewGraph", []), ("TF_NewOperation", [made(0), "NoOp", "n"]), ("TF_FinishOperation", [made(1)])]
calls += [("TF_OperationName", [made(2)]), ("TF_NewOperation", [made(0), "NoSuchOp", "m"])]
calls += [("TF_FinishOperation", [made(4)]), ("TF_DeleteGraph", [made(0)]), ("lab_alive", [])]
due = [("pointer", "TF_Graph*"), ("pointer", "TF_OperationDescription*"), ("pointer", "TF_Operation*"), ("value", "n")]
due += [("pointer", "TF_OperationDescription*"), ("error", "RuntimeError"), ("value", None), ("value", 0)]
got = outcomes_of("16 functions", swig_and_call, text, calls)
assert_outcomes("16 functions (lab_alive: statuses that were not freed)", calls, got, due)


### BEGIN HIDDEN TESTS
def real_message():
    """What the library says of an op type that does not exist."""
    library, pointer = ctypes.CDLL(LIBRARY), ctypes.c_void_p
    for name in ("TF_NewStatus", "TF_NewGraph", "TF_NewOperation", "TF_FinishOperation"):
        getattr(library, name).restype = pointer
    library.TF_Message.restype = ctypes.c_char_p
    status, graph = pointer(library.TF_NewStatus()), pointer(library.TF_NewGraph())
    library.TF_FinishOperation(pointer(library.TF_NewOperation(graph, b"NoSuchOp", b"m")), status)
    message = library.TF_Message(status).decode()
    library.TF_DeleteGraph(graph)
    library.TF_DeleteStatus(status)
    return message


steps = [
    (("TF_NewGraph", []), ("pointer", "TF_Graph*")),
    (("TF_DataTypeSize", [2]), ("value", 8)),
    (("TF_NewOperation", [made(0), "Placeholder", "n"]), ("pointer", "TF_OperationDescription*")),
    (("TF_SetAttrType", [made(2), "dtype", 1]), ("value", None)),
    (("TF_FinishOperation", [made(2)]), ("pointer", "TF_Operation*")),
    (("lab_alive", []), ("value", 0)),
    (("TF_OperationOutputListLength", [made(4), "output"]), ("value", 1)),
    (("TF_OperationOutputListLength", [made(4), "no such output"]), ("error", "RuntimeError")),
    (("TF_OperationOutputListLength", [made(0), "output"]), ("error", "TypeError")),
    (("lab_alive", []), ("value", 0)),
    (("TF_NewSessionOptions", []), ("pointer", "TF_SessionOptions*")),
    (("TF_NewSession", [made(0), made(10)]), ("pointer", "TF_Session*")),
    (("TF_CloseSession", [made(11)]), ("value", None)),
    (("TF_DeleteSession", [made(11)]), ("value", None)),
    (("TF_NewOperation", [made(0), "NoSuchOp", "m"]), ("pointer", "TF_OperationDescription*")),
    (("TF_FinishOperation", [made(14)]), ("error", "RuntimeError", real_message())),
    (("TF_FinishOperation", []), ("error", "TypeError")),
    (("TF_OperationNumInputs", [made(4)]), ("value", 0)),
    # TF_SetStatus fills the status in as it is told.
    *((("TF_SetStatus", [code, "100%s"]), ("error", "RuntimeError", "100%s")) for code in range(1, 17)),
    (("TF_SetStatus", [0, ""]), ("value", None)),
    (("TF_SetStatus", ["3", "text"]), ("error", "TypeError")),
    (("lab_type", [3]), ("value", 3)),
    (("lab_type", ["3"]), ("error", "TypeError")),
    (("lab_alive", []), ("value", 0)),
]
calls, due = [call for call, _ in steps], [outcome for _, outcome in steps]
got = outcomes_of("16 functions", swig_and_call, text, calls)
assert_outcomes("16 functions (lab_alive: statuses that were not freed)", calls, got, due)
others = [
    f.name
    for f in GIVEN_PROTOTYPES.values()
    if f.name not in names
    and all(re.fullmatch(r"int|const char\*|size_t|TF_DataType|(const )?TF_\w+\*", text) for text in f.arguments)
    and re.fullmatch(r"void|int|TF_DataType|TF_\w+\*", f.returns)
    and "const TF_Status*" not in f.arguments
    and f.name not in ("TF_NewStatus", "TF_DeleteStatus")
]
others = random.SystemRandom().sample(others, 12)
other_text = answer_to(", ".join(others), (), interface, [GIVEN_PROTOTYPES[name] for name in others])
try:
    written, _ = swig(other_text)
except LibraryError as error:
    raise AssertionError(f"{', '.join(others)}: {error}") from error
wrapped = re.findall(r"^SWIGINTERN PyObject \*_wrap_(TF_\w+)\(", written, re.MULTILINE)
assert sorted(wrapped) == sorted(others), f"wrappers are due for {sorted(others)}, SWIG made them for {sorted(wrapped)}"
### END HIDDEN TESTS

# %% [markdown] after_passing="interface"
# Three typemaps, and no status is left in Python. TensorFlow 1.x had the same three, for `TF_Status* status`, in
# python/platform/base.i; its `argout` looked up the exception class of the code in a registry. Today each binding does it
# in C++: a status in a smart pointer, and `MaybeRaiseRegisteredFromTFStatus` after the call
# (python/lib/core/pybind11_status.h). The status is freed in `freearg`, because both ways out of a wrapper go through
# it.

# %% [markdown]
# Why did TensorFlow leave SWIG? SWIG sees text. What the compiler knows anyway it has to be told, typemap by typemap,
# and much of today's C++ it cannot parse. A binding in pybind11 is C++ itself: the compiler takes the types from the
# functions that are called. Ask a wrapper of the installed wheel what it takes:

# %%
from tensorflow.python.client import pywrap_tf_session

for name in ("TF_NewOperation", "TF_CloseSession", "ExtendSession", "TF_SessionRun_wrapper"):
    function = getattr(pywrap_tf_session, name)
    print(f"{type(function).__name__} of {function.__module__}:\n  {function.__doc__.strip()}")

# %% [markdown]
# The types in these lines come from C++. The status is gone from all of them, and an array is just an `object`: what
# becomes of it is the next step.
#
# ## 4. A session from nothing
#
# ### Exercise 6 · An array becomes a TF_Tensor (3 points)
#
# From here on you make C calls yourself, through a function `c` that is passed to you. `c(NAME, *arguments)` makes one
# call in the library process and gives the result. A pointer is an `int`, NULL is 0, text is a `str`, an array is a list
# and brings its own length along. For this exercise:
#
# | call | gives |
# | --- | --- |
# | `c("TF_AllocateTensor", dtype, dims, size)` | a new tensor: dtype as in `TF_DTYPES`, a list of int, bytes of data |
# | `c("TF_TensorType", tensor)`, `c("TF_NumDims", tensor)` | its dtype and its rank |
# | `c("TF_Dim", tensor, i)` | the size of dimension i |
# | `c("TF_TensorByteSize", tensor)`, `c("TF_TensorData", tensor)` | bytes and address of its data |
# | `c("write", address, data)`, `c("read", address, size)` | copy `bytes` to an address, or from there |
# | `c("TF_DeleteTensor", tensor)` | None |
#
# The `c` of the tests is a `Ledger`: it knows every object that is alive, refuses what would crash (`RuntimeError`),
# and remembers that it had to. Of the cell below only `KINDS` is worth reading. Write two functions:
#
# - `to_tensor(c, array) -> int`: a new tensor with the array's dtype, shape and values in row-major order. The array is
#   of any rank and size, also empty, and need not be contiguous. Its dtype is one of `TF_DTYPES`, in native byte order;
#   any other, such as `">f4"` on a machine that puts the low byte first, raises `TypeError` before anything is allocated.
# - `from_tensor(c, tensor) -> ndarray`: an array with dtype, shape and values of the tensor. It frees nothing, and the
#   array keeps its values when the tensor is freed. A type that is not in `TF_DTYPES` raises `TypeError`.
#
# ```
# >>> with c_calls() as calls:
# ...     c = Ledger(calls)
# ...     tensor = to_tensor(c, np.float32([[1, 2, 3]]))
# ...     print(c("TF_NumDims", tensor), c("TF_Dim", tensor, 1), c("TF_TensorByteSize", tensor), from_tensor(c, tensor))
# 2 3 12 [[1. 2. 3.]]
# ```
#
# <details><summary>Hint 1</summary>
#
# NumPy makes the bytes: `array.tobytes()` goes through the elements in row-major order, whatever the strides are. A
# scalar has no dimensions and the bytes of one element.
# </details>
#
# <details><summary>Hint 2</summary>
#
# There: the code from `TF_DTYPES` by `array.dtype.name` (which says nothing of the order of bytes, but
# `array.dtype.isnative` does), allocate `len(data)` bytes, `write` to `TF_TensorData`. Back:
# the name of the code, the list of `TF_Dim`, `np.frombuffer(data, name).reshape(shape)`, and a copy.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-ledger", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
TF_DTYPES = {"float32": 1, "float64": 2, "int32": 3, "int64": 9, "bool": 10}  # tensorflow/c/tf_datatype.h

# What `c` can call: kinds of the arguments and of the result. "-kind" is freed by the call; "status!" is filled in by it.
KINDS = {
    "TF_NewStatus": ((), "status"),
    "TF_DeleteStatus": (("-status",), None),
    "TF_GetCode": (("status",), None),
    "TF_Message": (("status",), None),
    "TF_NewGraph": ((), "graph"),
    "TF_DeleteGraph": (("-graph",), None),
    "TF_NewBufferFromString": (("bytes", "int"), "buffer"),
    "TF_DeleteBuffer": (("-buffer",), None),
    "TF_NewImportGraphDefOptions": ((), "import options"),
    "TF_DeleteImportGraphDefOptions": (("-import options",), None),
    "TF_GraphImportGraphDef": (("graph", "buffer", "import options", "status!"), None),
    "TF_GraphOperationByName": (("graph", "str"), "operation"),
    "TF_NewSessionOptions": ((), "session options"),
    "TF_DeleteSessionOptions": (("-session options",), None),
    "TF_NewSession": (("graph", "session options", "status!"), "session"),
    "TF_SessionRun": (("session", "outputs", "tensors", "outputs", "status!"), "tensor"),
    "TF_CloseSession": (("session", "status!"), None),
    "TF_DeleteSession": (("-session", "status!"), None),
    "TF_AllocateTensor": (("int", "dims", "int"), "tensor"),
    "TF_DeleteTensor": (("-tensor",), None),
    "TF_TensorType": (("tensor",), None),
    "TF_NumDims": (("tensor",), None),
    "TF_Dim": (("tensor", "int"), None),
    "TF_TensorByteSize": (("tensor",), None),
    "TF_TensorData": (("tensor",), None),
    "write": (("int", "bytes"), None),
    "read": (("int", "int"), None),
}


@contextlib.contextmanager
def c_calls() -> Iterator[Callable]:
    """Plain C calls, unchecked, in a fork of the library process; everything there ends with the block. Given."""
    functions = [tuple(GIVEN_PROTOTYPES[name]) for name in KINDS if name in GIVEN_PROTOTYPES]
    with library_process() as process:
        process.send(("calls", functions))
        process.receive()

        def call(name: str, *arguments: object) -> object:
            process.send((name, *arguments))
            return process.receive()

        try:
            yield call
        finally:
            if not process.idle:
                process.send(None)
                process.ended()


class Ledger:
    """`c` of the exercises: it makes checked C calls and knows what is alive. Given.

    Attributes:
        live: the kind of each object that was made and not freed, by address.
        fault: the first call that was refused, in words, or None.
        failed: code and message of the first status that was not OK, or None.
        calls: all calls, for `view.lifetimes`.
    """

    def __init__(self, calls: Callable, graph: bytes | None = None) -> None:
        self._c, self._graph = calls, graph
        self.live: dict[int, str] = {}
        self.fault: str | None = None
        self.failed: tuple[int, str] | None = None
        self.calls: list[tuple[str, tuple, tuple, tuple]] = []
        self._names: dict[int, str] = {}
        self._unread: dict[int, str] = {}  # statuses that a call filled in and nobody looked at
        self._graph_of: dict[int, int] = {}  # by session
        self._closed: set[int] = set()
        self._operations: dict[int, int] = {}  # the graph of each
        self._data: dict[int, tuple[int, int]] = {}  # by tensor that is alive: address of its data and bytes

    def __call__(self, name: str, *arguments: object) -> object:
        if name not in KINDS:
            self._refuse(f"there is no C function {name!r} here")
        kinds, makes = KINDS[name]
        if len(kinds) != len(arguments):
            self._refuse(f"{name} takes {len(kinds)} arguments, not {len(arguments)}")
        for kind, argument in zip(kinds, arguments, strict=True):
            self._check(name, kind, argument)
        self._check_more(name, arguments)
        result = self._c(name, *arguments)
        self._note(name, kinds, makes, arguments, result)
        return result

    def _refuse(self, words: str) -> None:
        self.fault = self.fault or words
        raise RuntimeError(words)

    def _check(self, name: str, kind: str, argument: object) -> None:
        """Refuse an argument that is not of its kind, or an object that is not alive."""
        plain = {"int": int, "bytes": bytes, "str": str}
        bare = kind.strip("-!")
        if bare in plain:
            if type(argument) is not plain[bare]:
                self._refuse(f"{name}: a {bare} is due, found a {type(argument).__name__}")
        elif bare in ("dims", "tensors", "outputs"):
            if type(argument) is not list:
                self._refuse(f"{name}: a list is due, found a {type(argument).__name__}")
            for item in argument:
                if bare == "dims":
                    self._check(name, "int", item)
                elif bare == "tensors":
                    self._check(name, "tensor", item)
                elif type(item) is not tuple or [type(part) for part in item] != [int, int]:
                    self._refuse(f"{name}: an output is a tuple (operation, index), found {item!r}")
                elif self.live.get(self._operations.get(item[0], 0)) != "graph":
                    self._refuse(f"{name}: {item[0]} is no operation of a graph that is alive")
        elif type(argument) is not int or self.live.get(argument) != bare:
            self._refuse(f"{name}: {argument!r} is no {bare} that is alive")
        elif kind != bare and bare == "status" and argument in self._unread:
            self._refuse(f"{name}: nobody looked at the status of {self._unread[argument]} before")

    def _check_more(self, name: str, arguments: tuple) -> None:
        """Rules that concern more than one argument."""
        if name == "TF_NewBufferFromString":
            data, size = arguments
            if size != len(data) or self._graph not in (None, data):
                self._refuse(f"{name}: the serialized graph that was passed in, and its length, are due")
        elif name == "TF_SessionRun":
            session, inputs, tensors = arguments[:3]
            if len(inputs) != len(tensors):
                self._refuse(f"{name}: {len(inputs)} inputs and {len(tensors)} tensors")
            if self.live.get(self._graph_of[session]) != "graph" or session in self._closed:
                self._refuse(f"{name}: the session is closed, or its graph deleted")
        elif name == "TF_DeleteSession" and arguments[0] not in self._closed:
            self._refuse(f"{name}: the session was not closed before")
        elif name == "TF_DeleteGraph" and any(
            self.live.get(session) == "session" and graph == arguments[0] for session, graph in self._graph_of.items()
        ):
            self._refuse(f"{name}: a session on this graph is still alive")
        elif name == "TF_Dim" and not 0 <= arguments[1] < self._c("TF_NumDims", arguments[0]):
            self._refuse(f"{name}: there is no dimension {arguments[1]}")
        elif name in ("write", "read"):
            address, size = arguments[0], len(arguments[1]) if name == "write" else arguments[1]
            most = max((start + size - address for start, size in self._data.values() if start <= address), default=0)
            if size and not 0 <= size <= most:
                self._refuse(f"{name}: {size} bytes at {address} are not within the data of a tensor that is alive")

    def _note(self, name: str, kinds: tuple, makes: str | None, arguments: tuple, result: object) -> None:
        """Keep the books: what was freed and made by a call, and which status waits to be looked at."""
        used = []
        frees = [argument for kind, argument in zip(kinds, arguments, strict=True) if kind[0] == "-"]
        for kind, argument in zip(kinds, arguments, strict=True):
            objects = argument if kind == "tensors" else [argument] if kind.rstrip("!") in self.live.values() else []
            used += [self._names[address] for address in objects]
            if kind == "status!":
                self._unread[argument] = name
                code = self._c("TF_GetCode", argument)
                if code and self.failed is None:
                    self.failed = code, self._c("TF_Message", argument)
        freed = tuple(self._names.pop(address) for address in frees)
        for address in frees:
            del self.live[address]
            self._data.pop(address, None)
        if name == "TF_GetCode":
            self._unread.pop(arguments[0], None)
        elif name == "TF_CloseSession":
            self._closed.add(arguments[0])
        elif name == "TF_TensorData":
            self._data[arguments[0]] = result, self._c("TF_TensorByteSize", arguments[0])
        elif name == "TF_GraphOperationByName":
            self._operations[result] = arguments[0]
        new = [address for address in (result if type(result) is list else [result]) if address]
        born = []
        if makes and makes != "operation":
            for address in new:
                self.live[address] = makes
                count = sum(name.partition(" (")[0] == makes for _, made, _, _ in self.calls for name in made)
                self._names[address] = f"{makes} ({count + len(born) + 1})" if count + len(born) else makes
                born.append(self._names[address])
        if makes == "session" and result:
            self._graph_of[result] = arguments[0]
            self._closed.discard(result)
        if name.startswith("TF_"):
            self.calls.append((name, tuple(born), tuple(used), freed))


def assert_books(case: str, ledger: Ledger, allowed: tuple[str, ...] = ()) -> None:
    """Assert that no call was refused and that nothing is alive but objects of the allowed kinds. Given."""
    assert ledger.fault is None, f"{case}: a call was refused: {ledger.fault}"
    left = sorted(ledger.live.values())
    assert left == sorted(allowed), f"{case}: still alive are {left}, due are {sorted(allowed)}"


# %% nbgrader={"grade": false, "grade_id": "tensor", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def to_tensor(c: Callable, array: np.ndarray) -> int:
    """A new TF_Tensor with dtype, shape and values of an array.

    Raises:
        TypeError: the dtype is not in TF_DTYPES; nothing was allocated.
    """
    ### BEGIN SOLUTION
    if array.dtype.name not in TF_DTYPES or not array.dtype.isnative:
        raise TypeError(f"no tensor is made of {array.dtype!r}")
    data = array.tobytes()
    tensor = c("TF_AllocateTensor", TF_DTYPES[array.dtype.name], list(array.shape), len(data))
    c("write", c("TF_TensorData", tensor), data)
    return tensor
    ### END SOLUTION


def from_tensor(c: Callable, tensor: int) -> np.ndarray:
    """An array with dtype, shape and values of a TF_Tensor, which stays alive.

    Raises:
        TypeError: the tensor's type is not in TF_DTYPES.
    """
    ### BEGIN SOLUTION
    names = {code: name for name, code in TF_DTYPES.items()}
    code = c("TF_TensorType", tensor)
    if code not in names:
        raise TypeError(f"no array is made of the type {code}")
    shape = [c("TF_Dim", tensor, i) for i in range(c("TF_NumDims", tensor))]
    data = c("read", c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor))
    return np.frombuffer(data, names[code]).reshape(shape).copy()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "tensor-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – an array that crosses between processes arrives contiguous, and its strides are the subject
with c_calls() as plain_calls:
    ledger, case = Ledger(plain_calls), "float32 of shape [1, 3]"
    tensor = answer_to(case, (), to_tensor, ledger, np.float32([[1, 2, 3]]))
    assert type(tensor) is int, f"to_tensor returns the tensor, an int, not a {type(tensor).__name__}"
    assert_books(case, ledger, ("tensor",))
    assert ledger.live.get(tensor) == "tensor", f"{case}: {tensor} is not the tensor that was allocated"
    facts = [plain_calls(name, tensor) for name in ("TF_TensorType", "TF_NumDims", "TF_TensorByteSize")]
    assert facts == [1, 2, 12], f"{case}: type 1, rank 2 and 12 bytes are due, found {facts}"
    back = answer_to(case, (), from_tensor, ledger, tensor)
    assert type(back) is np.ndarray, f"from_tensor returns an array, not a {type(back).__name__}"
    np.testing.assert_array_equal(back, np.float32([[1, 2, 3]]), strict=True, err_msg=f"{case}, there and back")
    assert_books(case, ledger, ("tensor",))
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
draw = np.random.default_rng(seed)
arrays = [
    np.float32(2.5).reshape(()),
    np.int64([]),
    np.zeros((2, 0, 3), np.float64),
    np.array([[True, False], [True, True]]),
    draw.normal(size=(3, 4)).T,
    np.arange(24, dtype=np.int32).reshape(2, 3, 4)[:, ::-1, ::2],
    np.asfortranarray(draw.normal(size=(2, 5)).astype(np.float32)),
    np.int64([2**40, -1, 7]),
]
for dtype in ("float32", "float64", "int32", "int64", "bool"):
    shape = tuple(draw.integers(1, 4, size=draw.integers(0, 5)))
    arrays.append(np.asarray((draw.normal(size=shape) * 9).astype(dtype)).reshape(shape))
with c_calls() as plain_calls:
    for array in arrays:
        ledger, case = Ledger(plain_calls), f"seed {seed}: {array.dtype} of shape {list(array.shape)}"
        tensor = answer_to(case, (), to_tensor, ledger, array)
        assert_books(case, ledger, ("tensor",))
        assert type(tensor) is int and tensor in ledger.live, f"{case}: {tensor!r} is not the tensor that was allocated"
        facts = [plain_calls(name, tensor) for name in ("TF_TensorType", "TF_NumDims", "TF_TensorByteSize")]
        due = [tf.as_dtype(array.dtype).as_datatype_enum, array.ndim, array.nbytes]
        assert facts == due, f"{case}: type, rank and bytes {due} are due, found {facts}"
        dims = [plain_calls("TF_Dim", tensor, i) for i in range(array.ndim)]
        assert dims == list(array.shape), f"{case}: the tensor has the dimensions {dims}"
        held = plain_calls("read", plain_calls("TF_TensorData", tensor), array.nbytes)
        assert held == array.tobytes(), f"{case}: the tensor does not hold the values in row-major order"
        back = answer_to(case, (), from_tensor, ledger, tensor)
        assert_books(f"{case}, after from_tensor", ledger, ("tensor",))
        plain_calls("TF_DeleteTensor", tensor)
        assert type(back) is np.ndarray, f"{case}: from_tensor returns an array, not a {type(back).__name__}"
        np.testing.assert_array_equal(
            back, array, strict=True, verbose=False, err_msg=f"{case}: there and back it changed"
        )
    swapped = [np.array([1, 2], dtype).astype(np.dtype(dtype).newbyteorder()) for dtype in ("float32", "int64")]
    for array in (np.complex64([1]), np.array(["text"]), np.uint8([1, 2]), np.float16(1), *swapped):
        ledger, case = Ledger(plain_calls), f"an array of {array.dtype!r}"
        try:
            tensor = answer_to(case, (TypeError,), to_tensor, ledger, np.asarray(array))
        except TypeError:
            assert_books(f"{case}, after the TypeError", ledger)
        else:
            raise AssertionError(f"{case}: TypeError is due, found {tensor!r}")
    ledger, case = Ledger(plain_calls), "a tensor of uint8, which is type 4"
    tensor = ledger("TF_AllocateTensor", 4, [2], 2)
    try:
        back = answer_to(case, (TypeError,), from_tensor, ledger, tensor)
    except TypeError:
        assert_books(f"{case}, after the TypeError", ledger, ("tensor",))
    else:
        raise AssertionError(f"{case}: TypeError is due, found {back!r}")
### END HIDDEN TESTS

# %% [markdown] after_passing="tensor"
# Bytes there and back, for every rank and any strides. In the wheel `NdarrayToTensor` does it (c/tf_tensor.cc holds the
# tensor, python/lib/core/ndarray_tensor.cc the conversion): it may hand the array's own memory over, with a deallocator
# that gives the array back to Python, instead of copying. Ours copies: the library process has no access to our memory.

# %% [markdown]
# From here on the two are given as well, as `given_to_tensor` and `given_from_tensor`.
#
# ### Exercise 7 · A session from nothing (5 points)
#
# Write `run_graph(c, graph: bytes, feeds: dict[str, ndarray], fetches: list[str]) -> list[ndarray]`: what
# `tf.compat.v1.Session().run(fetches, feeds)` does for a serialized GraphDef, by calls of `c` alone. The other calls:
#
# | call | gives |
# | --- | --- |
# | `c("TF_NewStatus")` · `c("TF_DeleteStatus", status)` | a status · None |
# | `c("TF_GetCode", status)` · `c("TF_Message", status)` | an int, 0 is OK · a str |
# | `c("TF_NewGraph")` · `c("TF_DeleteGraph", graph)` | an empty graph · None |
# | `c("TF_NewBufferFromString", data, len(data))` · `c("TF_DeleteBuffer", buffer)` | a buffer with these bytes · None |
# | `c("TF_NewImportGraphDefOptions")` · `c("TF_DeleteImportGraphDefOptions", options)` | options · None |
# | `c("TF_GraphImportGraphDef", graph, buffer, options, status)` | None |
# | `c("TF_GraphOperationByName", graph, name)` | an operation, or 0; it belongs to the graph |
# | `c("TF_NewSessionOptions")` · `c("TF_DeleteSessionOptions", options)` | options · None |
# | `c("TF_NewSession", graph, options, status)` | a session, or 0 |
# | `c("TF_SessionRun", session, inputs, tensors, outputs, status)` | a list: a new tensor for each output, or 0 |
# | `c("TF_CloseSession", session, status)` · `c("TF_DeleteSession", session, status)` | None · None |
#
# `inputs` and `outputs` are lists of `(operation, index)`, `tensors` are the fed values in the order of `inputs`.
#
# - Feeds and fetches are tensors, `n:0`, `n:1`, or `n` for `n:0`. One whose node is not in the graph raises `KeyError`.
#   `fetches` is not empty. The step is run once.
# - Every status is looked at: after each of the five calls that fill one in (import, new session, run, close, delete)
#   `TF_GetCode` is asked before that status is used again or deleted. One that is not OK raises `StatusError(code,
#   message)`; its two arguments are what `TF_GetCode` and `TF_Message` gave.
# - Every object is freed, once, also when a call failed or an error is raised. A session is closed before it is deleted,
#   and deleted before its graph. (The library would keep a graph until its last session is gone; do not rely on it.)
# - Arrays that cannot be fed raise `TypeError`, as `given_to_tensor` does; and so does a fetched tensor of a type that is
#   not in `TF_DTYPES`, as `given_from_tensor` does.
# - A tensor that is both fed and fetched is an error for the C++ session, and so it is here. (Python's `session.run`
#   takes such fetches out and answers them itself.)
#
# Sessions of TensorFlow's Python are withheld while your code is tested, and the only graph that the Ledger lets pass is
# the one you were given.
#
# ```
# >>> with tf.Graph().as_default() as drawn:
# ...     x = tf1.placeholder(tf.float32, [2], name="x")
# ...     y = tf.add(x, x, name="y")
# >>> with c_calls() as calls:
# ...     run_graph(Ledger(calls), drawn.as_graph_def().SerializeToString(), {"x:0": np.float32([1, 2])}, ["y:0"])
# [array([2., 4.], dtype=float32)]
# ```
#
# <details><summary>Hint 1</summary>
#
# Whatever you make, say at once how it is freed. `contextlib.ExitStack` keeps such a list and goes through it
# backwards, whichever way the block is left: `stack.callback(c, "TF_DeleteGraph", graph)`. In which order do you have
# to make things, so that backwards is right?
# </details>
#
# <details><summary>Hint 2</summary>
#
# A function inside, `checked(name, *arguments)`: make the call with the status behind its arguments, ask for the code,
# raise or return the result. It serves for closing and deleting as well. The status is made first and freed last, and
# the results of `TF_SessionRun` are yours to free, too.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-tensors", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class StatusError(Exception):
    """A status that was not OK. Its arguments are the code and the message. Given."""


def given_to_tensor(c: Callable, array: np.ndarray) -> int:
    """As `to_tensor` of exercise 6. Given."""
    kind, contiguous = array.dtype.name, np.ascontiguousarray(array)
    if kind not in TF_DTYPES or not array.dtype.isnative:
        raise TypeError(f"{array.dtype!r} is none of {', '.join(TF_DTYPES)} in native byte order")
    address = c("TF_AllocateTensor", TF_DTYPES[kind], [int(size) for size in array.shape], contiguous.nbytes)
    c("write", c("TF_TensorData", address), bytes(contiguous.data))
    return address


def given_from_tensor(c: Callable, tensor: int) -> np.ndarray:
    """As `from_tensor` of exercise 6. Given."""
    number = c("TF_TensorType", tensor)
    kinds = [name for name, code in TF_DTYPES.items() if code == number]
    if not kinds:
        raise TypeError(f"a tensor of another type than {', '.join(TF_DTYPES)}")
    array = np.zeros([c("TF_Dim", tensor, axis) for axis in range(c("TF_NumDims", tensor))], kinds[0])
    array[...] = np.frombuffer(c("read", c("TF_TensorData", tensor), array.nbytes), array.dtype).reshape(array.shape)
    return array


def twice() -> bytes:
    """The serialized graph `y = x + x` for float32 vectors. Given."""
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float32, [None], name="x")
        tf.add(x, x, name="y")
    return drawn.as_graph_def().SerializeToString()


# %% nbgrader={"grade": false, "grade_id": "session", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    """Run a serialized GraphDef once, by C calls alone; the fetched values.

    Raises:
        StatusError: a status was not OK; the arguments are its code and its message.
        KeyError: the node of a feed or fetch is not in the graph.
        TypeError: an array cannot be fed, or a fetched tensor cannot be read.
    """
    ### BEGIN SOLUTION
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "session-test", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
with c_calls() as plain_calls:
    graph, case = twice(), "y = x + x, x fed with [1, 2]"
    ledger = Ledger(plain_calls, graph)
    with withheld(*TF_STEPS):
        values = answer_to(case, (), run_graph, ledger, graph, {"x:0": np.float32([1, 2])}, ["y:0"])
    assert_books(case, ledger)
    runs = [name for name, *_ in ledger.calls].count("TF_SessionRun")
    assert runs == 1, f"{case}: TF_SessionRun is due once, it was called {runs} times"
    assert type(values) is list and len(values) == 1, f"{case}: a list with one array is due, found {values!r}"
    np.testing.assert_array_equal(values[0], np.float32([2, 4]), strict=True, err_msg=case)
    ledger = Ledger(plain_calls, graph)
    try:
        with withheld(*TF_STEPS):
            values = answer_to("y fetched, x not fed", (StatusError,), run_graph, ledger, graph, {}, ["y:0"])
    except StatusError as error:
        assert error.args == ledger.failed, f"StatusError has the arguments {ledger.failed}; found {error.args}"
    else:
        raise AssertionError(f"y fetched, x not fed: StatusError is due, found {values!r}")
    assert_books("y fetched, x not fed", ledger)


### BEGIN HIDDEN TESTS
def random_graph(rng):
    """A placeholder x of any dtype and shape, y = x + x, z with two outputs, and a product whose shapes may not fit."""
    dtype = rng.choice([tf.float32, tf.float64, tf.int32, tf.int64])
    shape = [rng.randrange(1, 4) for _ in range(rng.randrange(4))]
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(dtype, shape, name="x")
        y = tf.add(x, x, name="y")
        tf.raw_ops.Unpack(value=tf.stack([y, x]), num=2, axis=0, name="z")
        tf.less(x, y, name="less")
        tf.raw_ops.MatMul(a=tf1.placeholder(tf.float32, [None, None], name="p"), b=tf.ones([2, 2]), name="m")
    values = np.asarray(np.random.default_rng(rng.randrange(10**6)).normal(size=shape) * 9).astype(dtype.as_numpy_dtype)
    return drawn, values.reshape(shape)


def really_run(drawn, feeds, fetches):
    """Values, or the code of the error, from a session of TensorFlow's."""
    with tf1.Session(graph=drawn, config=plain_config()) as session:
        try:
            return session.run([name if ":" in name else f"{name}:0" for name in fetches], feeds)
        except tf.errors.OpError as error:
            return error.error_code


def asked(words, calls, graph, feeds, fetches):
    """The kind of error that an answer raises, or None; what it raises or gives; the ledger. Its books are in order."""
    ledger, raised = Ledger(calls, graph), None
    try:
        with withheld(*TF_STEPS):
            got = answer_to(
                words, (StatusError, KeyError, TypeError), run_graph, ledger, graph, dict(feeds), list(fetches)
            )
    except StatusError as error:
        raised, got = StatusError, error
    except KeyError as error:
        raised, got = KeyError, error
    except TypeError as error:
        raised, got = TypeError, error
    assert_books(words, ledger)
    return raised, got, ledger


def assert_like_python(words, calls, drawn, feeds, fetches):
    """Values, or code and message of the error, must be those of a session of TensorFlow's."""
    raised, got, ledger = asked(words, calls, drawn.as_graph_def().SerializeToString(), feeds, fetches)
    want = really_run(drawn, {name if ":" in name else f"{name}:0": value for name, value in feeds.items()}, fetches)
    if type(want) is int:
        assert raised is StatusError, f"{words}: StatusError with the code {want} is due, found {got!r}"
        args = f"{words}: the status was {ledger.failed}; the StatusError has {got.args}"
        assert got.args == ledger.failed and got.args[0] == want, args
        return
    assert type(got) is list and len(got) == len(want), f"{words}: {len(want)} arrays are due, found {got!r}"
    runs = [name for name, *_ in ledger.calls].count("TF_SessionRun")
    assert runs == 1, f"{words}: TF_SessionRun is due once, it was called {runs} times"
    for value, due, name in zip(got, want, fetches, strict=True):
        wrong = f"{words}: {name} is wrong"
        np.testing.assert_array_equal(value, np.asarray(due), strict=True, verbose=False, err_msg=wrong)


def wide():
    """The graph z:k = k * x for k from 0 to 11, w = z:1 + x, and u and s, which no array is made of."""
    with tf.Graph().as_default() as drawn:
        x = tf1.placeholder(tf.float32, [None], name="x")
        z = tf.raw_ops.Unpack(value=tf.stack([k * x for k in range(12)]), num=12, axis=0, name="z")
        tf.add(z[1], x, name="w")
        tf.cast(x, tf.uint8, name="u")
        tf.as_string(x, name="s")
    return drawn


FILL = [name for name, (kinds, _) in KINDS.items() if "status!" in kinds]


def failing(calls, number):
    """The same calls, but the status of the call `number` of the five that fill one in is (10, "injected")."""
    filled, spoilt = [], set()

    def call(name, *arguments):
        if name in FILL:
            filled.append(name)
            spoilt.discard(arguments[-1])
            if len(filled) == number:
                spoilt.add(arguments[-1])
                if name in ("TF_NewSession", "TF_SessionRun"):
                    return 0 if name == "TF_NewSession" else [0] * len(arguments[3])
        if name in ("TF_GetCode", "TF_Message") and arguments[0] in spoilt:
            return 10 if name == "TF_GetCode" else "injected"
        if name == "TF_DeleteStatus":
            spoilt.discard(arguments[0])
        return calls(name, *arguments)

    return call


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
with c_calls() as plain_calls:
    ones, many = np.float32([1, 2]), "z has 12 outputs, w = z:1 + x; x and z:1 fed, z:10, w and z:11 fetched"
    drawn = wide()
    graph = drawn.as_graph_def().SerializeToString()
    assert_like_python(many, plain_calls, drawn, {"x": ones, "z:1": 5 * ones}, ["z:10", "w", "z:11"])
    for feeds, fetches, due in [
        ({"x:0": ones}, ["none:0"], KeyError),
        ({"x:0": ones, "none": ones}, ["w:0"], KeyError),
        ({"x:0": np.complex64([1])}, ["w:0"], TypeError),
        ({"x:0": ones, "z:1": np.complex64([1, 2])}, ["w:0"], TypeError),
        ({"x:0": ones}, ["w:0", "u", "z:1"], TypeError),
        ({"x:0": ones}, ["s:0"], TypeError),
        ({"x:0": np.float64([1])}, ["w:0"], StatusError),
        ({"x:0": ones}, ["w:0", "x:0"], StatusError),
        ({"x:0": ones}, ["w:3"], StatusError),
    ]:
        kinds = {name: value.dtype.name for name, value in feeds.items()}
        words = f"z = Unpack(…), w = z:1 + x, u is uint8, s are strings; {kinds} fed, {fetches} fetched"
        raised, got, ledger = asked(words, plain_calls, graph, feeds, fetches)
        assert raised is due, f"{words}: {due.__name__} is due, found {got!r}"
        assert due is not StatusError or got.args == ledger.failed, f"{words}: {ledger.failed} is due, found {got.args}"
    raised, got, ledger = asked("bytes that are no GraphDef", plain_calls, b"\xff\xff no graph", {}, ["y:0"])
    assert raised is StatusError, f"bytes that are no GraphDef: StatusError is due, found {got!r}"
    assert got.args == ledger.failed, f"bytes that are no GraphDef: {ledger.failed} is due, found {got.args}"
    doubled = twice()
    for number, name in enumerate(["import", "new session", "run", "close", "delete"], 1):
        words = f"y = x + x, where the status after {name} is (10, 'injected')"
        raised, got, ledger = asked(words, failing(plain_calls, number), doubled, {"x:0": ones}, ["y:0"])
        assert raised is StatusError, f"{words}: StatusError is due, found {got!r}"
        assert got.args == (10, "injected"), f"{words}: these are the arguments that are due, found {got.args}"
    for case in range(2):
        drawn, array = random_graph(rng)
        ones = np.ones((2, 2), np.float32)
        for feeds, fetches in [
            ({"x:0": array}, rng.sample(["y:0", "z:1", "z:0", "less", "y"], 4)),
            ({"p:0": ones, "x": array}, ["m", "z:1", "y"]),
            ({}, ["y:0"]),
            ({"p:0": np.ones((2, 3), np.float32), "x:0": array}, ["y:0", "m:0"]),
        ]:
            words = f"seed {seed}, case {case}: x is {array.dtype} of shape {list(array.shape)}; {list(feeds)} fed, {fetches} fetched"
            assert_like_python(words, plain_calls, drawn, feeds, fetches)
### END HIDDEN TESTS

# %% [markdown] after_passing="session"
# Values, codes and messages are the library's, and the books are empty on every way out. What you wrote is the life of a
# session as c/c_api.cc sees it: `TF_NewSession`, `TF_SessionRun` (under it a `DirectSession`), and `TF_DeleteSession`,
# which takes the session off its graph's list; `TF_DeleteGraph` frees a graph only when that list is empty. In
# TensorFlow's Python the same duty lies with `BaseSession.__del__` (python/client/session.py) and with `PyGraph`, the C++
# class under `tf.Graph`. Ours puts each object on a stack as soon as it is made: then no way out forgets one.

# %% [markdown]
# ## 5. Check: yours, without TensorFlow
#
# The pieces together: a fresh process loads the library by `ctypes`, the types of all calls come from *your*
# `prototypes`, and *your* `run_graph` runs a graph of ten layers, of which it knows only the bytes. The same graph in a
# session of TensorFlow's Python here.

# %%
def in_c_alone(source: str, library: str, functions: list, run, graph: bytes, feeds: dict, fetches: list) -> tuple:
    import ctypes
    import sys

    names = {}
    exec(source, names)
    c = names["Calls"](ctypes.CDLL(library), functions)
    return run(c, graph, feeds, fetches), "tensorflow" in sys.modules


with tf.Graph().as_default() as layers:
    y = tf1.placeholder(tf.float32, [None, 8], name="x")
    for number in range(10):
        weights = np.random.default_rng(number).normal(size=(8, 8)).astype(np.float32) / 3
        y = tf.tanh(tf.matmul(y, weights), name=f"layer{number}")
feeds = {"x:0": np.ones((3, 8), np.float32)}
with tf1.Session(graph=layers, config=plain_config()) as session:
    [theirs] = session.run(["layer9:0"], feeds)
try:
    read = [tuple(function) for name in HEADERS for function in prototypes(header(name)) if function.name in KINDS]
    arguments = (C_CALLS, LIBRARY, read, run_graph, layers.as_graph_def().SerializeToString(), feeds, ["layer9:0"])
    [mine], imported = in_fresh_process(in_c_alone, *arguments).value
    print(f"{len(read)} functions declared; largest difference {np.abs(mine - theirs).max():.1e}; imported: {imported}")
except Exception as error:
    print("prototypes or run_graph is not written yet, or fails:", type(error).__name__, str(error)[:200])


# %% [markdown]
# (If it says `imported: True`, your functions use a name of TensorFlow's Python, which came along to the other process.)
#
# ## 6. Play: drop and move calls
#
# The calls of the session of section 2, or of your `run_graph` if it is written. Choose a call, drop it or move it, and
# see what becomes of the objects. C would say nothing of this: a leak is silent, and a use after free reads whatever
# lies there now. An *early free* is that of a graph whose session is still alive: the library puts it off, and says
# nothing either.
#
# - Drop one call such that exactly one object leaks. Drop another such that no object suffers: what is lost with it?
# - Move `TF_DeleteStatus` upwards. How far can it go?
# - Move one call so that there is a use after free, but no leak and no double free.
#
# <details><summary>Answers</summary>
#
# Every `TF_Delete…` is a leak when it is dropped. `TF_GetCode` can be dropped and no object suffers: only the error that
# it would have told is lost, which no bookkeeping of objects can see. (The Ledger looks for it.) `TF_DeleteStatus`
# can go up as far as the last call that fills a status in, or looks at it. And any `TF_Delete…` that is moved above a
# use of its object is a use after free.
# </details>

# %%
def recorded() -> list[view.CCall]:
    with c_calls() as calls:
        ledger = Ledger(calls)
        try:
            run_graph(ledger, twice(), {"x:0": np.float32([1, 2])}, ["y:0"])
        except Exception:
            return lives(alone["log"])
    boring = ("TF_TensorType", "TF_NumDims", "TF_Dim", "TF_TensorByteSize", "TF_GraphOperationByName")
    return [c_call(*call) for call in ledger.calls if call[0] not in boring]


player = view.lifetimes_player(recorded())
end_library_process()  # nothing below needs it; whoever does gets a new one
player

# %% [markdown]
# ## Read on
#
# | what | where in TensorFlow 2.21 |
# | --- | --- |
# | the C API | c/c_api.h, c/tf_tensor.h, c/tf_status.h; codes: `TSL_Code` in xla/tsl/c/tsl_status.h |
# | its implementation | c/c_api.cc: `TF_SessionRun`, `TF_DeleteGraph`; opaque structs: c/c_api_internal.h |
# | arrays and tensors | c/tf_tensor.cc; python/lib/core/ndarray_tensor.cc: `NdarrayToTensor` |
# | the bindings | python/client/tf_session_wrapper.cc: `PYBIND11_MODULE(_pywrap_tf_session, m)` |
# | what they call | python/client/tf_session_helper.cc: `TF_SessionRun_wrapper`; python/client/session_ref.cc: `SessionRef` |
# | an op type that is not there | core/framework/node_def_builder.cc: `Finalize` makes INVALID_ARGUMENT of NOT_FOUND |
# | a status as an exception | python/lib/core/pybind11_status.h; python/framework/errors_impl.py |
# | the caller | python/client/session.py: `BaseSession._call_tf_sessionrun`; python/client/pywrap_tf_session.py |
#
# What changed since 1.x: there SWIG wrote one large module, `_pywrap_tensorflow_internal`, from `.i` files
# (python/client/tf_session.i, python/platform/base.i). In 2019 and 2020 they were replaced one by one by bindings in
# pybind11, in many small modules; the C API under them has stayed. Eager execution crosses the same line by other
# functions (`TFE_…`, c/eager/c_api.h), one call for each op instead of one for each step. What an op is, on the far side
# of the line, is lab 3-3.

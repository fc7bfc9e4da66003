# %% [markdown]
# # Training loops that survive
#
# Who starts, watches and restarts a training loop? And what is left when its process is killed in the middle of a
# step?
#
# At the end you know what a monitored session is made of and in which order it calls its hooks, you have built a
# coordinator and both sides of the protocol by which a chief and its workers begin, you have read a checkpoint's index
# byte by byte, and written a job that can be killed with `SIGKILL` at any step and ends as if nothing had happened.
#
# 150 minutes · 22 points · Before this lab: 1-4 (a job that is stopped and resumed), 2-4 (what is initialised when) and 2-5 (threads, queues and how they end).
#
# When you have saved, `./tflabs check 2-6-training` or Check on the start page grades your answers, also with tests
# that you do not see here.

# %% [markdown]
# ## What the last labs left
#
# Lab 2-5 ended a pipeline in good order: the queue was closed, its threads came to their end, and a `Coordinator`
# waited for them. There it was taken as it is; here you build it. Lab 2-4 found out which variables are not initialised
# yet; here a process asks that question again and again until another process has answered it.
#
# And lab 1-4 stopped a job and let it go on. But that job was asked to stop, and had time to save. This lab takes the
# time away: what must be on disk **before**, so that a process that ends between two instructions costs a few steps
# and nothing else?

# %% nbgrader={"grade": false, "grade_id": "given-imports", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

import contextlib
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from tensorflow.core.protobuf.tensor_bundle_pb2 import BundleEntryProto

from tflabs.runtime import FreshProcessError, answer_to, in_fresh_process, shared_folder, withheld

tf1 = tf.compat.v1
GraphDef = tf1.GraphDef
tf.get_logger().setLevel("FATAL")  # whatever is logged as an error here is raised as one, too

# For processes that this notebook starts: they do without Keras, which makes them start faster.
CHILD = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1"}
PATIENCE = 5.0  # seconds after which a thread that still waits is given up

# %% [markdown]
# ## 1. Look: killed at step 35
#
# The job is as small as a job can be. A step adds its own number to `w`, so after n steps `w` is 1 + 2 + … + n: if a
# step were done twice or left out, `w` would tell. After every ten steps the loop writes a checkpoint. It works
# like the one of lab 1-4.
#
# A process of its own runs it and kills itself after step 35, with `SIGKILL`. That signal cannot be caught: no
# `finally`, no `atexit` and no destructor runs, what is in a buffer is lost. Then this notebook's process runs the same
# function on the same folder.

# %%
from tflabs import view


def train(directory: str, last: int, on_step: Callable[[int], None]) -> float:
    """Train up to step `last`, from where the checkpoints in a folder end; returns the last w."""
    step, w = tf.Variable(0, dtype=tf.int64), tf.Variable(0.0, dtype=tf.float64)
    checkpoint = tf.train.Checkpoint(step=step, w=w)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=None)
    checkpoint.restore(manager.latest_checkpoint)
    while step < last:
        step.assign_add(1)
        w.assign_add(tf.cast(step, tf.float64))
        if step % 10 == 0:
            manager.save(checkpoint_number=step)
        on_step(int(step))
    return float(w)


def killed_at(number: int) -> Callable[[int], None]:
    """A callback that prints each step, and ends its own process after this one."""

    def on_step(step: int) -> None:
        print(step, flush=True)
        if step == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return on_step


def saved_steps(directory: str) -> list[int]:
    """The numbers of the checkpoints in a folder."""
    return sorted(int(path.stem.split("-")[1]) for path in Path(directory).glob("ckpt-*.index"))


with tempfile.TemporaryDirectory(prefix="tflabs-training-") as folder:
    try:
        in_fresh_process(train, folder, 50, killed_at(35), env=CHILD)
    except FreshProcessError as error:
        print("first: ", str(error).split(":")[0])
        steps = [int(line) for line in error.stdout.split()]
    first = view.Attempt(steps, saved_steps(folder), f"killed by SIGKILL after step {steps[-1]}", killed=True)
    steps = []
    w = train(folder, 50, steps.append)
    print("second: w =", w, "and 1 + 2 + … + 50 =", sum(range(51)))
    new = [step for step in saved_steps(folder) if step not in first.saved]
    second = view.Attempt(steps, new, f"goes on at step {steps[0]}, ends after step {steps[-1]}")

view.attempts([first, second], title="One job, two processes")

# %% [markdown]
# The kill costs five steps of work: 31 to 35 were done, were in no checkpoint, and are done again. Nothing is done
# twice *in the result*, because what is restored is a state in which these steps never happened. That holds only
# because `step` and `w` are in the same checkpoint: the number says exactly which steps the value contains.
#
# This loop does one thing at a time, and everything is in it: saving, stopping, restoring. TensorFlow 1.x took it
# apart. The loop became `while not session.should_stop(): session.run(train_op)`, and everything else moved into the
# session, which is then no longer one session.
#
# ## 2. The session model
#
# `tf1.train.MonitoredTrainingSession(…)` returns a `MonitoredSession`. What is inside can be seen by following one
# attribute, `_sess`, from object to object:

# %%
with tf.Graph().as_default():
    step = tf1.train.get_or_create_global_step()
    advance = step.assign_add(1)
    hooks = [tf1.train.StopAtStepHook(last_step=3), tf1.train.LoggingTensorHook({"step": step.read_value()}, 1)]
    with tf1.train.MonitoredSession(hooks=hooks) as session:
        while not session.should_stop():
            session.run(advance)
        picture = view.session_chain(session, title="The sessions inside a monitored session, after its last step")
picture

# %% [markdown]
# Five sessions, each of which does one thing when `run` passes through it. (The coordinator has not been asked to stop:
# the hook's request is kept by `_HookedSession`, and the outer ones ask the inner ones.)
#
# First the hooks' `begin` is called, then the graph is finalized, then the layers are made, the innermost first. What
# finalizes the graph is a **scaffold**. It collects what a session needs to begin: the ops that initialise, those that
# report what is not initialised, and a saver. What is not given is made by `Scaffold.finalize`:

# %%
with tf.Graph().as_default() as graph:
    v = tf1.get_variable("v", initializer=1.0)
    scaffold = tf1.train.Scaffold()

    class Diary(tf1.train.SessionRunHook):
        """Says what is there already when it is called."""

        def begin(self) -> None:
            print(f"begin                 graph finalized: {graph.finalized}   init_op: {scaffold.init_op}")

        def after_create_session(self, session: tf1.Session, coord: tf1.train.Coordinator) -> None:
            missing = session.run(scaffold.ready_op).tolist()
            print(f"after_create_session  graph finalized: {graph.finalized}   init_op: {scaffold.init_op.name}")
            print(f"                      not initialised: {missing}   v: {session.run(v)}")

        def before_run(self, run_context: tf1.train.SessionRunContext) -> tf1.train.SessionRunArgs:
            print("before_run            it asks for v, too")
            return tf1.train.SessionRunArgs(v)

        def after_run(self, run_context: tf1.train.SessionRunContext, run_values: tf1.train.SessionRunValues) -> None:
            print("after_run             and gets", run_values.results)

        def end(self, session: tf1.Session) -> None:
            print("end                   the session still works:", session.run(v))

    with tf1.train.MonitoredSession(tf1.train.ChiefSessionCreator(scaffold), hooks=[Diary()]) as session:
        session.run(v.op)

# %% [markdown]
# First `begin`, while the graph may still grow: a hook adds its own ops there. Then the scaffold completes and
# finalizes the graph, a session is made, and the model is initialised or restored. Only then comes
# `after_create_session`.
#
# ## 3. Hooks
#
# A **hook** is an object with those five methods. What it returns from `before_run` is fetched in the same step as what
# the loop asked for, so it sees values of *this* step, not of another one. In `after_run` it may call
# `run_context.request_stop()`.
#
# ### Exercise 1 · Who is called when? (1 point)
#
# Two hooks, `a` and `b`, in this order. `a` asks to stop in its `after_run` of the second step; `b` never does.
#
# ```
# with tf1.train.MonitoredSession(hooks=[a, b]) as session:
#     while not session.should_stop():
#         session.run(train_op)
# ```
#
# Before you run anything, write down all calls in their order, as a list of `str`: `CALLS = ["a.begin", …]`. The
# methods are `begin`, `after_create_session`, `before_run`, `after_run` and `end`. With no hook but `a`, and a stop in
# the first step, it would be `["a.begin", "a.after_create_session", "a.before_run", "a.after_run", "a.end"]`.

# %% nbgrader={"grade": false, "grade_id": "predict-hooks", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
# Which methods are called, in which order?
### BEGIN SOLUTION
STEP = ["a.before_run", "b.before_run", "a.after_run", "b.after_run"]
CALLS = ["a.begin", "b.begin", "a.after_create_session", "b.after_create_session", *STEP, *STEP, "a.end", "b.end"]
### END SOLUTION

# %% nbgrader={"grade": false, "grade_id": "given-recorder", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Recorder(tf1.train.SessionRunHook):
    """A hook that writes down its calls, and asks to stop after some step (0: never). Given."""

    def __init__(self, name: str, calls: list[str], stop_at: int = 0) -> None:
        self.name, self.calls, self.stop_at, self.steps = name, calls, stop_at, 0

    def begin(self) -> None:
        self.calls.append(f"{self.name}.begin")

    def after_create_session(self, session, coord) -> None:
        self.calls.append(f"{self.name}.after_create_session")

    def before_run(self, run_context) -> None:
        self.calls.append(f"{self.name}.before_run")

    def after_run(self, run_context, run_values) -> None:
        self.calls.append(f"{self.name}.after_run")
        self.steps += 1
        if self.steps == self.stop_at:
            run_context.request_stop()

    def end(self, session) -> None:
        self.calls.append(f"{self.name}.end")


# %% nbgrader={"grade": true, "grade_id": "predict-hooks-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
assert type(CALLS) is list, f"CALLS is a list of str, found a {type(CALLS).__name__}"
methods = ["begin", "after_create_session", "before_run", "after_run", "end"]
names = [f"{hook}.{method}" for hook in "ab" for method in methods]
strange = [call for call in CALLS if type(call) is not str or call not in names]
assert not strange, f"each entry is one of {names}; found {strange[:3]}"
assert len(CALLS) >= 10, f"each of the two hooks has all five methods called; CALLS has {len(CALLS)} entries"
### BEGIN HIDDEN TESTS
real = []
with tf.Graph().as_default():
    once = tf.constant(1)
    with tf1.train.MonitoredSession(hooks=[Recorder("a", real, stop_at=2), Recorder("b", real)]) as session:
        while not session.should_stop():
            session.run(once)
agree = 0
while agree < min(len(CALLS), len(real)) and CALLS[agree] == real[agree]:
    agree += 1
right = f"CALLS is right up to CALLS[{agree - 1}], {CALLS[agree - 1]!r}" if agree else "CALLS begins with another call"
yours = f"CALLS[{agree}], {CALLS[agree]!r}," if agree < len(CALLS) else "the end of your list"
assert real == CALLS, f"{right}; {yours} does not come next"
### END HIDDEN TESTS

# %% [markdown] after_passing="predict-hooks"
# Phase by phase, and in each phase all hooks in the order of the list, `end` too. A request to stop ends nothing: it is
# noted in the step's `SessionRunContext`, `_HookedSession.run` keeps it when all hooks were called
# (python/training/monitored_session.py), and the loop's next `should_stop()` says so. So a hook can rely on it that
# each `before_run` is followed by its `after_run`, unless something fails.

# %% [markdown]
# ### Exercise 2 · The loop around the hooks (4 points)
#
# Write `hooked_loop(plans, last)`: what a monitored session does with its hooks, without TensorFlow. `plans` is a list
# of `HookPlan`, one for each hook, in order. The hooks do nothing but what their plan says:
#
# - Each hook counts the calls of its own `before_run`, from 1. When the count is `fail_at`, it raises the error named
#   `error`, in the method named `where` (`"before_run"` or `"after_run"`). Each call is written down first.
# - When the count is `stop_at`, it asks to stop in `after_run`, unless it raises there.
# - 0 means never.
#
# The loop, and the model, which is a counter:
#
# ```
# with tf1.train.MonitoredSession(hooks=…) as session:
#     for _ in range(last):
#         if session.should_stop():
#             break
#         session.run(counter_plus_one)
# ```
#
# The result is a tuple `(log, outcome)`. `log` is the list of all that happens, each entry a tuple: `(name, "begin")`,
# `(name, "after_create_session")`, `(name, "before_run")`, `(name, "after_run", value)`, `(name, "end")` for the hooks,
# and `("loop", "run")` when the loop calls `run`. `value` is what the step gave: 1 in the first step of a session, then
# 2 and so on. `outcome` is `"closed"`, or the name of the error that leaves the `with` block. The rules:
#
# 1. In each phase all hooks are called in the order given. A request to stop lets the phase finish; it counts from the
#    next `should_stop()` on.
# 2. An error breaks the phase off. If it was raised in `before_run`, the step does not run.
# 3. `OutOfRangeError` and `StopIteration` end the `with` block as if the loop were over: `end` is called for all hooks,
#    and the outcome is `"closed"`.
# 4. `ValueError` leaves the `with` block: no `end` is called for any hook.
# 5. `AbortedError` means that a process the session needs has gone away. `_RecoverableSession` throws the session away,
#    makes a new one (`after_create_session` for all hooks, not `begin`) and runs the same step again, from `before_run`
#    of the first hook on. All of that happens inside the one `run` of the loop. There is no checkpoint, so the counter
#    begins at 0 again; the hooks' own counts go on. A request to stop that was made in the phase that broke off is
#    forgotten.
#
# ```
# >>> hooked_loop([HookPlan("a", stop_at=1, fail_at=0, where="after_run", error="ValueError")], 5)
# ([('a', 'begin'), ('a', 'after_create_session'), ('loop', 'run'), ('a', 'before_run'), ('a', 'after_run', 1), ('a', 'end')], 'closed')
# ```
#
# Given is `monitored_loop(plans, last)`, which does it with real hooks. Compare the two on plans of your own; sessions
# are withheld while your function is tested.
#
# <details><summary>Hint 1</summary>
#
# Three nested pieces: the outermost decides about `end` and the outcome, the middle one runs the loop, and the
# innermost is one `run`, which may have to be tried more than once. Python's own exceptions can do the jumping.
# </details>
#
# <details><summary>Hint 2</summary>
#
# ```
# def step():                             # one try: before_run of all, the counter, after_run of all
#     …                                   # a failing hook raises Failed(plan.error)
#     stop = stop or asked                # only when the phase is complete
# def run():
#     while True:
#         try: step(); return
#         except Failed as error:
#             if it is no AbortedError: raise
#             counter = 0; after_create_session of all
# ```
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-plans", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class HookPlan(NamedTuple):
    """What a hook does. Given.

    `stop_at`, `fail_at`: the count of its `before_run` at which it asks to stop, or raises `error`; 0 is never.
    `where`: "before_run" or "after_run". `error`: a key of `ERRORS`.
    """

    name: str
    stop_at: int
    fail_at: int
    where: str
    error: str


ERRORS: dict[str, Callable[[], Exception]] = {
    "OutOfRangeError": lambda: tf.errors.OutOfRangeError(None, None, "the input is at its end"),
    "StopIteration": lambda: StopIteration("no more"),
    "ValueError": lambda: ValueError("something is wrong"),
    "AbortedError": lambda: tf.errors.AbortedError(None, None, "a process has gone away"),
}

# What tests withhold: whatever could run the loop.
TF_LOOPS = (
    "tensorflow.compat.v1.Session",
    "tensorflow.python.client.session.BaseSession",
    "tensorflow.python.client.session.BaseSession.run",
    "tensorflow.python.training.monitored_session._MonitoredSession",
    "tensorflow.python.training.monitored_session._WrappedSession",
    "tflabs.runtime.in_fresh_process",
    "subprocess.Popen",
    "multiprocessing.process.BaseProcess.start",
)


class PlannedHook(tf1.train.SessionRunHook):
    """A real hook that does what a plan says and writes it down. Given."""

    def __init__(self, plan: HookPlan, step: tf.Tensor, log: list[tuple]) -> None:
        self.plan, self.step, self.log, self.count = plan, step, log, 0

    def begin(self) -> None:
        self.log.append((self.plan.name, "begin"))

    def after_create_session(self, session, coord) -> None:
        self.log.append((self.plan.name, "after_create_session"))

    def before_run(self, run_context) -> tf1.train.SessionRunArgs:
        self.count += 1
        self.log.append((self.plan.name, "before_run"))
        self._fail("before_run")
        return tf1.train.SessionRunArgs(self.step)

    def after_run(self, run_context, run_values) -> None:
        self.log.append((self.plan.name, "after_run", int(run_values.results)))
        self._fail("after_run")
        if self.count == self.plan.stop_at:
            run_context.request_stop()

    def end(self, session) -> None:
        self.log.append((self.plan.name, "end"))

    def _fail(self, method: str) -> None:
        if self.plan.where == method and self.count == self.plan.fail_at:
            raise ERRORS[self.plan.error]()


@cache
def counter() -> tuple[tf.Graph, tf.Tensor]:
    """A graph with a counter, and the tensor that adds 1 to it. Given."""
    with tf.Graph().as_default() as graph:
        value = tf1.get_variable("value", initializer=0, use_resource=True)
        return graph, tf.identity(value.assign_add(1))


def monitored_loop(plans: list[HookPlan], last: int) -> tuple[list[tuple], str]:
    """Runs the loop in a real MonitoredSession, with hooks made from plans. Given."""
    graph, step = counter()
    log: list[tuple] = []
    with graph.as_default():
        try:
            with tf1.train.MonitoredSession(hooks=[PlannedHook(plan, step, log) for plan in plans]) as session:
                for _ in range(last):
                    if session.should_stop():
                        break
                    log.append(("loop", "run"))
                    session.run(step)
        except Exception as error:
            return log, type(error).__name__
    return log, "closed"


def random_plans(rng: random.Random) -> list[HookPlan]:
    """Up to three hooks that may stop and fail early. Given."""
    return [
        HookPlan(
            name,
            rng.choice([0, 0, 2, 3]),
            rng.choice([0, 1, 2, 3]),
            rng.choice(["before_run", "after_run"]),
            rng.choice([*ERRORS, "AbortedError"]),
        )
        for name in "abc"[: rng.randrange(1, 4)]
    ]


# %% nbgrader={"grade": false, "grade_id": "hooked-loop", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def hooked_loop(plans: list[HookPlan], last: int) -> tuple[list[tuple], str]:
    """All calls that a monitored session makes for hooks with these plans, and how its `with` block ends."""
    ### BEGIN SOLUTION
    calls: list[tuple] = []
    counts = [0] * len(plans)
    counter, stop = 0, False

    class Failed(Exception):
        """A hook raised the error of this name."""

    def fail(number: int, method: str) -> None:
        plan = plans[number]
        if plan.where == method and plan.fail_at == counts[number]:
            raise Failed(plan.error)

    def step() -> None:
        nonlocal counter, stop
        for number, plan in enumerate(plans):
            counts[number] += 1
            calls.append((plan.name, "before_run"))
            fail(number, "before_run")
        counter += 1
        asked = False
        for number, plan in enumerate(plans):
            calls.append((plan.name, "after_run", counter))
            fail(number, "after_run")
            asked = asked or plan.stop_at == counts[number]
        stop = asked

    def run() -> None:
        nonlocal counter
        while True:
            try:
                return step()
            except Failed as failure:
                if str(failure) != "AbortedError":
                    raise
            counter = 0
            calls.extend((plan.name, "after_create_session") for plan in plans)

    calls += [(plan.name, "begin") for plan in plans]
    calls += [(plan.name, "after_create_session") for plan in plans]
    try:
        for _round in range(last):
            if stop:
                break
            calls.append(("loop", "run"))
            run()
    except Failed as failure:
        if str(failure) == "ValueError":
            return calls, "ValueError"
    calls += [(plan.name, "end") for plan in plans]
    return calls, "closed"
    ### END SOLUTION


# %% nbgrader={"grade": false, "grade_id": "given-loop-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def assert_same_loop(got: object, want: tuple[list[tuple], str], where: str) -> None:
    """Assert that a result of `hooked_loop` is what a monitored session did, and say where they part. Given."""
    assert type(got) is tuple and len(got) == 2, f"{where}: a tuple (log, outcome) is due, found {got!r:.200}"
    log, outcome = got
    assert type(log) is list, f"{where}: the log is a list, found a {type(log).__name__}"
    for number, due in enumerate(want[0]):
        found = log[number] if number < len(log) else "nothing"
        assert found == due, f"{where}: after {want[0][max(number - 3, 0) : number]} comes {due}, yours has {found!r}"
    assert log == want[0], f"{where}: after {want[0][-1:]} nothing more happens, yours has {log[len(want[0]) :][:3]}"
    assert outcome == want[1], f"{where}: the outcome is {want[1]!r}, yours {outcome!r}"


# %% nbgrader={"grade": true, "grade_id": "hooked-loop-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
one = HookPlan("a", stop_at=2, fail_at=0, where="after_run", error="ValueError")
for plan, last in [(one, 5), (one, 1), (one._replace(fail_at=1), 5)]:
    with withheld(*TF_LOOPS):
        answer = answer_to(f"{plan}, last={last}", (), hooked_loop, [plan], last)
    assert_same_loop(answer, monitored_loop([plan], last), f"{plan}, last={last}")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
still = HookPlan("b", 0, 0, "after_run", "ValueError")
cases = [
    ([], 2),
    ([one, still], 0),
    ([one._replace(stop_at=1), still], 4),
    ([still, one._replace(fail_at=2, where="before_run", error="OutOfRangeError")], 4),
    ([one._replace(fail_at=1, error="StopIteration"), still], 3),
    ([still, one._replace(fail_at=2, where="before_run", error="ValueError")], 4),
    ([one, still._replace(fail_at=2, error="AbortedError")], 5),
    ([still, one._replace(stop_at=3, fail_at=2, where="before_run", error="AbortedError")], 4),
    ([one._replace(stop_at=1, fail_at=1, error="AbortedError"), still._replace(fail_at=1, error="AbortedError")], 3),
]
cases += [(random_plans(rng), rng.choice([2, 3, 4])) for _ in range(4)]
with withheld(*TF_LOOPS):
    answers = [
        answer_to(f"seed {seed}: {plans}, last={last}", (), hooked_loop, list(plans), last) for plans, last in cases
    ]
for (plans, last), answer in zip(cases, answers, strict=True):
    assert_same_loop(answer, monitored_loop(plans, last), f"seed {seed}: {plans}, last={last}")
### END HIDDEN TESTS

# %% [markdown] after_passing="hooked-loop"
# Your pieces are TensorFlow's layers: `step` is `_HookedSession.run`, `run` is `_RecoverableSession.run`, and the rest
# is `_MonitoredSession.__exit__` with `_close_internal` (all in python/training/monitored_session.py). There, a request
# to stop lives in the `_HookedSession` object, which is why it dies with it. In ours the counts stand outside of `step`
# for the opposite reason: a hook is an object of the user's and survives the session.

# %% [markdown]
# ### Exercise 3 · A hook of your own (3 points)
#
# Write `train_until_flat(model, patience, min_delta)`. `model` is a `GraphDef` with the tensor `loss:0` (a float64
# scalar) and the op `train`. Its input is part of the graph: whenever a step computes the loss, the model moves on to
# the next one. And its loss gets better by training: it is too large if `train` did not run in each step before. Import
# the model, and run a `MonitoredSession` with a hook that you write, until one of these happens:
#
# - `patience` steps in a row, and at least one, have not **improved** the loss: then your hook calls
#   `run_context.request_stop()`. A step improves the loss if its own is smaller than the best one so far by more than
#   `min_delta`; only then it becomes the best. The first step always improves.
# - The input is at its end: the step raises `tf.errors.OutOfRangeError`.
# - The loss is NaN: then `tf1.train.NanLossDuringTrainingError` is raised, and leaves your function.
#
# The result is the list of the losses of all steps that were run, as `float`. Every step runs `train` and sees the loss
# of the same step. `patience` is an `int` of at least 0, `min_delta` a `float` of at least 0. Keras' `EarlyStopping`, of
# which this is a likeness, is withheld.
#
# ```
# >>> train_until_flat(loss_model([3.0, 2.0, 2.0, 2.5, 1.0]), patience=2, min_delta=0.0)
# [3.0, 2.0, 2.0, 2.5]
# ```
#
# Given is `loss_model(losses)`, which makes such a `GraphDef`. In a `tf.Graph` of your own,
# `tf.import_graph_def(model, name="")` brings it in; `session.run` and `SessionRunArgs` also take names.
#
# <details><summary>Hint 1</summary>
#
# A second `session.run("loss:0")` would move the model on. What the hook returns from `before_run` is fetched together
# with what the loop runs.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `before_run` returns `tf1.train.SessionRunArgs("loss:0")`; `after_run` finds the value in `run_values.results`,
# appends it to a list, counts, and calls `run_context.request_stop()` when the count of steps without improvement has
# reached `max(patience, 1)`. `MonitoredSession` treats an `OutOfRangeError` as the end of the loop by itself.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-model", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
def loss_model(losses: list[float]) -> GraphDef:
    """A model whose loss is the next number of a list whenever a step computes it; see exercise 3. Given.

    A queue counts how often `train` ran. If that is not once for each loss before, 100 is added for each difference.
    """
    with tf.Graph().as_default() as graph:
        numbers = tf.data.Dataset.from_tensor_slices(np.array(losses, np.float64)).enumerate()
        computed, number = tf1.data.make_one_shot_iterator(numbers).get_next()
        trained = tf1.FIFOQueue(-1, tf.bool, shapes=[()])
        difference = tf.abs(computed - tf.cast(trained.size(), tf.int64))
        loss = tf.add(number, 100 * tf.cast(difference, tf.float64), name="loss")
        with tf.control_dependencies([loss]):
            tf.group(trained.enqueue(True), name="train")
    return graph.as_graph_def()


# %% nbgrader={"grade": false, "grade_id": "early-stop", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def train_until_flat(model: GraphDef, patience: int, min_delta: float) -> list[float]:
    """Train until the loss has not improved for some steps; returns the losses of all steps.

    Raises:
        tf1.train.NanLossDuringTrainingError: a loss is NaN.
    """
    ### BEGIN SOLUTION
    seen: list[float] = []

    class EarlyStop(tf1.train.SessionRunHook):
        """Records the losses, and asks to stop when they no longer improve."""

        def begin(self):
            self.best, self.waited = float("inf"), 0

        def before_run(self, context):
            return tf1.train.SessionRunArgs("loss:0")

        def after_run(self, context, values):
            loss = float(values.results)
            if loss != loss:
                raise tf1.train.NanLossDuringTrainingError
            seen.append(loss)
            self.waited += 1
            if loss < self.best - min_delta:
                self.best, self.waited = loss, 0
            elif self.waited >= patience:
                context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[EarlyStop()]) as monitored:
            while not monitored.should_stop():
                monitored.run("train")
    return seen
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "early-stop-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
flat = [3.0, 2.0, 2.0, 2.5, 1.0]
it = f"the losses {flat}, patience 2, min_delta 0.0"
with withheld("tensorflow.keras.callbacks.EarlyStopping"):
    stopped = answer_to(it, (), train_until_flat, loss_model(flat), 2, 0.0)
assert type(stopped) is list, f"train_until_flat returns a list, not a {type(stopped).__name__}"
assert [type(loss) for loss in stopped] == [float] * len(stopped), f"the losses are due as float, found {stopped!r}"
assert stopped == flat[:4], f"{it}: {flat[:4]} are due, yours are {stopped}"


### BEGIN HIDDEN TESTS
def early_stopping(losses, patience, min_delta):
    """The losses up to where Keras' EarlyStopping would stop."""
    callback = tf.keras.callbacks.EarlyStopping(monitor="loss", mode="min", patience=patience, min_delta=min_delta)
    model = SimpleNamespace(stop_training=False)
    callback.set_model(model)
    callback.on_train_begin()
    for number, loss in enumerate(losses):
        callback.on_epoch_end(number, {"loss": loss})
        if model.stop_training:
            return losses[: number + 1]
    return losses


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
cases = [
    ([2.0, 2.0, 1.0], 0, 0.0),  # patience 0: the first step never stops, the second does
    ([4.0, 3.5, 3.0, 2.5, 2.0], 2, 0.5),  # each is smaller than the one before, but not by more than the margin
    ([4.0, 5.0, 3.0, 4.0, 2.0, 3.0, 1.0], 2, 0.0),  # never two bad ones in a row
    ([3.0, 5.0, 4.5, 4.0, 3.5], 3, 0.0),  # better than the one before, never than the best
    ([rng.randrange(12) / 4 for _ in range(rng.randrange(6, 13))], rng.randrange(1, 4), rng.choice([0.0, 0.5])),
    ([rng.randrange(6) / 4 for _ in range(rng.randrange(6, 13))], rng.randrange(1, 4), rng.choice([0.25, 0.5])),
]
told = [f"seed {seed}: the losses {losses}, patience {patience}, min_delta {delta}" for losses, patience, delta in cases]
with withheld("tensorflow.keras.callbacks.EarlyStopping"):
    answers = [
        answer_to(it, (), train_until_flat, loss_model(losses), patience, min_delta)
        for it, (losses, patience, min_delta) in zip(told, cases, strict=True)
    ]
for it, case, stopped in zip(told, cases, answers, strict=True):
    due = early_stopping(*case)
    assert type(stopped) is list, f"{it}: a list is due, found a {type(stopped).__name__}"
    assert stopped == due, f"{it}: the losses seen are {due}, yours are {stopped}"
losses = [3.0, 2.0, float("nan"), 1.0]
try:
    stopped = train_until_flat(loss_model(losses), 9, 0.0)
except RuntimeError as error:
    kind = type(error).__name__
    assert kind == "NanLossDuringTrainingError", f"losses {losses}: NanLossDuringTrainingError is due, raised a {kind}"
else:
    raise AssertionError(f"losses {losses}: NanLossDuringTrainingError is due, {stopped!r} came back")
# What decides must be a hook: without request_stop it cannot.
try:
    with withheld("tensorflow.compat.v1.train.SessionRunContext.request_stop"):
        stopped = train_until_flat(loss_model(flat), 2, 0.0)
except RuntimeError as error:
    assert "request_stop" in str(error), f"your function raised {error!r}; the case: losses {flat}, patience 2"
else:
    raise AssertionError("your loop stops, but no hook of it calls run_context.request_stop()")
### END HIDDEN TESTS

# %% [markdown] after_passing="early-stop"
# Your hook stops where Keras' `EarlyStopping` does, which is the same idea as a callback per epoch. In TensorFlow the
# pattern is that of `NanTensorHook` and `StopAtStepHook` (python/training/basic_session_run_hooks.py): ask in
# `before_run`, decide in `after_run`. Ours keeps its state in `begin` and not in `__init__`, so one object can serve
# two sessions in turn.

# %% [markdown]
# The hooks that come with TensorFlow, for what loops usually need:

# %%
for name in sorted(name for name in dir(tf1.train) if name.endswith("Hook")):
    print(f"{name:24}", (getattr(tf1.train, name).__doc__ or "").strip().splitlines()[0])

# %% [markdown]
# ## 4. The coordinator
#
# A loop is rarely alone: threads fill queues, write summaries, watch over things. When one of them fails, all must
# stop, and the error must get to the thread that can handle it. That is what a `Coordinator` is for. It starts no
# thread and stops none. It holds one flag, "please stop", and one error; the threads ask it, and the main thread waits.

# %%
coordinator = tf1.train.Coordinator()


def work(number: int) -> None:
    """A thread that fails at once, or that works until it is told to stop."""
    with coordinator.stop_on_exception():
        if number == 2:
            raise ValueError("thread 2 has no more disk space")
        while not coordinator.should_stop():
            coordinator.wait_for_stop(0.01)
        raise KeyError(f"thread {number} was interrupted by the stop")


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
try:
    coordinator.join(threads)
except Exception as error:
    print("join raises", repr(error))
print("threads still alive:", sum(thread.is_alive() for thread in threads))

# %% [markdown]
# Four errors were raised and one is told: the first, which is the cause. The others are what a stop does to threads in
# the midst of their work.
#
# ### Exercise 4 · First error wins (3 points)
#
# Complete the class `MiniCoordinator(clean_types)`. `clean_types` is a tuple of exception types. Threads may call any
# method at any time: of two requests one is the first, and who sees the stop also finds the error. You may not use
# `tf1.train.Coordinator`.
#
# - `request_stop(error=None)` asks everybody to stop. Only the request that finds no stop requested yet can leave an
#   error: its `error`, unless that is an instance of a clean type, which counts as none. Later requests change nothing.
# - `should_stop()` says whether a stop is requested (`bool`). `wait_for_stop(timeout=None)` waits until it is, at most
#   `timeout` seconds, and returns the same.
# - `raise_requested_exception()` raises the error that was left, if there is one.
# - `join(threads)` waits until all of these threads have ended, however long that takes. Then it raises the error that
#   was left, if there is one, each time it is called.
# - `joined` is an attribute: `True` once a `join` has finished waiting, `False` before.
# - Once `joined`, nobody waits for an error any more: `request_stop(error)` raises `error` itself and changes nothing.
#   If it is of a clean type or `None`, it only asks to stop.
# - `clear_stop()` takes back the stop, the error and `joined`.
# - `stop_on_exception()` is a context manager: an error in its body, any `Exception` at least, goes to `request_stop` and
#   is not seen outside of the `with`, unless `request_stop` raises it.
#
# "Raises the error" means that very object.
#
# ```
# >>> coordinator = MiniCoordinator((tf.errors.OutOfRangeError,))
# >>> with coordinator.stop_on_exception():
# ...     raise ValueError("first")
# >>> coordinator.request_stop(KeyError("second"))
# >>> coordinator.join([])
# ValueError: first
# ```
#
# Given is `drive(coordinator, script)`, which makes the calls of a script and returns what came of each. It also drives
# a `tf1.train.Coordinator(clean_stop_exception_types=…)`.
#
# <details><summary>Hint 1</summary>
#
# `threading.Event` is a flag that threads can wait for. But "look whether it is set, note the error, set it" must not
# be interrupted by another thread that does the same: that needs a lock. And nobody may hold the lock while waiting.
# </details>
#
# <details><summary>Hint 2</summary>
#
# `request_stop`: first turn a clean error into `None`. Then, under the lock: if joined and there is an error, raise it;
# if the event is not set, keep the error and set the event. `stop_on_exception` is a generator with
# `@contextlib.contextmanager`: `try: yield`, and `except BaseException as error: self.request_stop(error)`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-drive", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
CLEAN = (tf.errors.OutOfRangeError,)
ERROR_KINDS: dict[str, Callable[[str], Exception]] = {
    "ValueError": ValueError,
    "KeyError": KeyError,
    "OutOfRangeError": lambda words: tf.errors.OutOfRangeError(None, None, words),
}


def bounded(function: Callable, *args):
    """What a function returns, in a thread that is given up when it takes too long: then TimeoutError. Given."""
    outcome: list = []

    def call() -> None:
        try:
            outcome.extend((True, function(*args)))
        except BaseException as problem:
            outcome.extend((False, problem))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if not outcome:
        raise TimeoutError(f"still waiting after {PATIENCE:g} s")
    returned, value = outcome
    if not returned:
        raise value
    return value


def drive(coordinator, script: list[tuple]) -> list[tuple]:
    """Makes the calls of a script, one after the other; what came of each. Given.

    Args:
        script: of `("request_stop", kind)` and `("body", kind)`, where kind is a key of `ERROR_KINDS` or None
            ("body" is a `with coordinator.stop_on_exception()`), and `("should_stop",)`, `("wait_for_stop",)`,
            `("join",)`, `("joined",)`, `("raise_requested_exception",)`, `("clear_stop",)`.

    Returns:
        For each call `("returned", value)`, or `("raised", n)` if it raised the very error that was made in call n of
        the script, or `("raised", repr)` if it raised another one.

    Raises:
        AssertionError: a call does not return.
    """
    made: list[Exception | None] = []
    outcomes: list[tuple] = []

    def make_all() -> None:
        for call, *rest in script:
            made.append(ERROR_KINDS[rest[0]](f"error {len(made)}") if rest and rest[0] else None)
            try:
                outcomes.append(("returned", _make_call(coordinator, call, made[-1])))
            except Exception as error:
                known = [index for index, own in enumerate(made) if own is error]
                outcomes.append(("raised", known[0] if known else repr(error)))

    try:
        bounded(make_all)
    except TimeoutError:
        number = len(outcomes)
        raise AssertionError(f"after {script[:number]} the call {script[number]} does not return") from None
    return outcomes


def _make_call(coordinator, call: str, error: Exception | None):
    """One call of a script; what it returned."""
    if call == "joined":
        return coordinator.joined
    if call == "body":
        with coordinator.stop_on_exception():
            if error is not None:
                raise error
        return None
    if call == "request_stop" and error is not None:
        try:
            raise error  # TensorFlow wants an error to be handled while it is handed over
        except Exception as raised:
            return coordinator.request_stop(raised)
    methods = {
        "request_stop": coordinator.request_stop,
        "should_stop": coordinator.should_stop,
        "wait_for_stop": lambda: coordinator.wait_for_stop(0.0),
        "join": lambda: coordinator.join([]),
        "raise_requested_exception": coordinator.raise_requested_exception,
        "clear_stop": coordinator.clear_stop,
    }
    return methods[call]()


def random_calls(rng: random.Random) -> list[tuple]:
    """A script of 3 to 10 calls. Given."""
    script: list[tuple] = []
    for _ in range(rng.randrange(3, 11)):
        call = rng.choice(["request_stop", "body"] * 3 + ["should_stop", "wait_for_stop", "joined", "join", "join"])
        call = rng.choice([call] * 6 + ["raise_requested_exception", "clear_stop"])
        script.append((call, rng.choice([None, *ERROR_KINDS])) if call in ("request_stop", "body") else (call,))
    return script


def assert_same_calls(got: list[tuple], want: list[tuple], script: list[tuple], where: str) -> None:
    """Assert that a script came out as on TensorFlow's coordinator. Given."""
    for number, (call, due) in enumerate(zip(script, want, strict=True)):
        found = got[number]
        same = type(found[1]) is type(due[1]) and found == due
        assert same, f"{where}: after {script[:number]} the call {call} must have {due}, yours has {found}"


class HeldThread(threading.Thread):
    """A thread that does not end before somebody waits for it without a limit, or for the third time. Given.

    A `join` with a timeout that comes earlier is over at once, as if the time had passed; `is_alive` counts, too.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.work, self.awaited, self.asked = work, threading.Event(), 0

    def run(self) -> None:
        self.work()
        self.awaited.wait(PATIENCE)

    def join(self, timeout: float | None = None) -> None:
        if timeout is None or self._asked_enough():
            self.awaited.set()
            super().join(timeout)

    def is_alive(self) -> bool:
        if self._asked_enough():
            self.awaited.set()
        return super().is_alive()

    def _asked_enough(self) -> bool:
        self.asked += 1
        return self.asked > 2


def first_of_three(make: Callable) -> str:
    """Three threads of a coordinator: one fails, the others then fail, too. What went wrong in words, or "". Given."""
    try:
        return bounded(_first_of_three, make)
    except TimeoutError:
        return "one of them fails, but then join does not return"


def _first_of_three(make: Callable) -> str:
    coordinator, waits, ready = make(CLEAN), [], threading.Barrier(4)
    first = ValueError("the first error")

    def fail() -> None:
        with coordinator.stop_on_exception():
            ready.wait(PATIENCE)
            raise first

    def stop_late() -> None:
        with coordinator.stop_on_exception():
            ready.wait(PATIENCE)
            waits.append(coordinator.wait_for_stop(PATIENCE))
            raise KeyError("an error after the stop")

    threads = [HeldThread(work) for work in (stop_late, fail, stop_late)]
    for thread in threads:
        thread.start()
    ready.wait(PATIENCE)
    for turn in ("first", "second"):
        try:
            coordinator.join(threads)
        except Exception as error:
            raised: Exception | None = error
        else:
            raised = None
        alive = sum(threading.Thread.is_alive(thread) for thread in threads)
        if alive:
            return f"join must wait for all threads; {alive} of 3 were alive when it ended"
        if raised is not first:
            return f"the {turn} join must raise the first error, {first!r}; it raised {raised!r}"
    if waits != [True, True]:
        return f"wait_for_stop must return True in both threads that wait for the stop; it returned {waits}"
    return "" if coordinator.joined is True else "after join the attribute joined must be True"


class Race:
    """Two threads ask a coordinator to stop; the first is held before one of its lines until it is let go. Given.

    Args:
        hold_at: the number of that line, from 1, with those of functions that it calls, but not of Python's own modules
            for threads; 0: none.
    """

    def __init__(self, coordinator, hold_at: int) -> None:
        self.coordinator, self.hold_at, self.lines = coordinator, hold_at, 0
        self.held, self.go = threading.Event(), threading.Event()
        self.found: list[BaseException | None] = []
        self.first, self.second = (threading.Thread(target=run, daemon=True) for run in (self._first, self._second))

    def error_left(self) -> BaseException | None:
        """The error that the coordinator has kept."""
        try:
            self.coordinator.raise_requested_exception()
        except Exception as error:
            return error
        return None

    def _first(self) -> None:
        sys.settrace(self._trace)
        try:
            self.coordinator.request_stop(ValueError("the error of one thread"))
        finally:
            sys.settrace(None)
            self.held.set()

    def _second(self) -> None:
        if self.coordinator.should_stop():
            self.found.append(self.error_left())
        self.coordinator.request_stop(ValueError("the error of the other thread"))
        self.found.append(self.error_left())

    def _trace(self, frame, event: str, argument: object) -> Callable | None:
        if frame.f_code.co_filename in (threading.__file__, contextlib.__file__):
            return None
        self.lines += event == "line"
        if event == "line" and self.lines == self.hold_at:
            self.held.set()
            self.go.wait(PATIENCE)
        return self._trace


def race_of_requests(make: Callable) -> str:
    """Two requests meet, the first held before each of its lines in turn. What went wrong in words, or "". Given."""
    alone = Race(make(CLEAN), 0)
    alone.first.start()
    alone.first.join(PATIENCE)
    races = [Race(make(CLEAN), line) for line in range(1, min(alone.lines, 30) + 1)]
    for race in races:
        race.first.start()
    for race in races:
        race.held.wait(PATIENCE)
        race.second.start()
    grace = 0.3  # who waits for a lock after that waits for the thread that is held, which now may go on
    for race in races:
        race.second.join(grace)
        grace = 0.0 if race.second.is_alive() else grace
    for race in races:
        race.go.set()
    for race in races:
        race.first.join(PATIENCE)
        race.second.join(PATIENCE)
        kept = bounded(race.error_left)
        if None in race.found:
            return "a thread saw the stop, but there was no error yet"
        if not race.found or any(error is not kept for error in race.found):
            return f"after its own request a thread found the errors {race.found}, and later it is {kept!r}"
    return ""


# %% nbgrader={"grade": false, "grade_id": "coordinator", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
class MiniCoordinator:
    """One flag and one error, shared by threads that are to stop together.

    Args:
        clean_types: errors of these types ask to stop, and are no errors.
    """

    def __init__(self, clean_types: tuple[type[BaseException], ...]) -> None:
        ### BEGIN SOLUTION
        self.joined = False
        self._clean = clean_types
        self._error: BaseException | None = None
        self._stop = threading.Event()
        self._lock = threading.Lock()
        ### END SOLUTION

    def request_stop(self, error: BaseException | None = None) -> None:
        """Asks everybody to stop; the first request may leave an error."""
        ### BEGIN SOLUTION
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()
        ### END SOLUTION

    def should_stop(self) -> bool:
        """Whether a stop is requested."""
        ### BEGIN SOLUTION
        return self._stop.is_set()
        ### END SOLUTION

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits for a stop, at most `timeout` seconds; whether one is requested."""
        ### BEGIN SOLUTION
        return self._stop.wait(timeout)
        ### END SOLUTION

    def raise_requested_exception(self) -> None:
        """Raises the error that a request left."""
        ### BEGIN SOLUTION
        if self._error is not None:
            raise self._error
        ### END SOLUTION

    def join(self, threads: list[threading.Thread]) -> None:
        """Waits until the threads have ended, then raises the error that a request left."""
        ### BEGIN SOLUTION
        for each in threads:
            each.join()
        with self._lock:
            self.joined = True
        self.raise_requested_exception()
        ### END SOLUTION

    def clear_stop(self) -> None:
        """Takes back the stop, the error and `joined`."""
        ### BEGIN SOLUTION
        with self._lock:
            self.joined, self._error = False, None
            self._stop.clear()
        ### END SOLUTION

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """An error in the body asks to stop and goes no further."""
        ### BEGIN SOLUTION
        try:
            yield
        except BaseException as error:
            self.request_stop(error)
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "coordinator-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# examiner: same process – threads of the test and the learner's coordinator wait for each other
script = [("body", "ValueError"), ("request_stop", "KeyError"), ("should_stop",), ("join",), ("joined",), ("join",)]
clean = [("should_stop",), ("body", "OutOfRangeError"), ("wait_for_stop",), ("body", "KeyError"), ("join",), ("joined",)]
for calls in (script, clean):
    with withheld("tensorflow.compat.v1.train.Coordinator"):
        came = drive(MiniCoordinator(CLEAN), calls)
    assert_same_calls(came, drive(tf1.train.Coordinator(CLEAN), calls), calls, "your coordinator")
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
fixed = [
    [("request_stop", None), ("request_stop", "ValueError"), ("join",), ("raise_requested_exception",)],
    [("body", "OutOfRangeError"), ("request_stop", "ValueError"), ("raise_requested_exception",), ("join",)],
    [("join",), ("body", "KeyError"), ("should_stop",), ("request_stop", "OutOfRangeError"), ("should_stop",), ("join",)],
    [("body", "KeyError"), ("join",), ("request_stop", "ValueError"), ("join",), ("raise_requested_exception",)],
    [("request_stop", "KeyError"), ("join",), ("clear_stop",), ("should_stop",), ("joined",), ("join",)],
    [("request_stop", "KeyError"), ("clear_stop",), ("request_stop", "ValueError"), ("join",), ("joined",)],
]
scripts = fixed + [random_calls(random.Random(seed + number)) for number in range(60)]
with withheld("tensorflow.compat.v1.train.Coordinator"):
    outcomes = [drive(MiniCoordinator(CLEAN), calls) for calls in scripts]
for calls, came in zip(scripts, outcomes, strict=True):
    assert_same_calls(came, drive(tf1.train.Coordinator(CLEAN), calls), calls, f"seed {seed}")
with withheld("tensorflow.compat.v1.train.Coordinator"):
    wrong = [first_of_three(MiniCoordinator) for _ in range(3)]
    raced = race_of_requests(MiniCoordinator)
assert wrong == ["", "", ""], f"three threads, of which one fails: {next(filter(None, wrong))}"
assert raced == "", f"two threads request a stop with an error at the same time: {raced}"
kinds = MiniCoordinator((KeyError, ValueError))
came = drive(kinds, [("body", "ValueError"), ("should_stop",), ("join",), ("clear_stop",), ("body", "OutOfRangeError"), ("join",)])
due = [("returned", None), ("returned", True), ("returned", None), ("returned", None), ("returned", None), ("raised", 4)]
assert came == due, f"with KeyError and ValueError as clean types the calls must give {due}, yours {came}"
### END HIDDEN TESTS

# %% [markdown] after_passing="coordinator"
# Sixty scripts, and threads that fail one after the other: call for call what `Coordinator` does
# (python/training/coordinator.py). It has the same event and lock. Two things of its own: it remembers
# `sys.exc_info()`, and its `join` gives threads a grace period after a stop (120 s) and raises `RuntimeError` for those
# that are late. Ours keeps the error itself, since in Python 3 the traceback hangs on it.

# %% [markdown]
# ## 5. Chief and worker
#
# Several processes train one model; its variables live on a server. If each of them initialised the variables, the last
# one would wipe out what the others have learned. So one process is the **chief**: it restores the model or initialises
# it. The others are **workers**: they wait. Nobody sends a message that it is time. A worker asks the model itself,
# over and over: which of your variables are not initialised?
#
# There are two kinds of variables (lab 2-4). **Global** ones belong to the model and are the chief's business.
# **Local** ones belong to one process, and each process initialises its own; but an initial value of a local one may
# read a global one. So before that it asks whether the global ones are ready for it.
#
# ### Exercise 5 · Who initialises what (3 points)
#
# Write both sides. Whatever is done is done by calling the given function `do(action)`; `action` is one of
#
# | action | what it does | returns |
# | --- | --- | --- |
# | `"restore"` | looks for a checkpoint and restores it, perhaps only a part of the variables | whether there was one (`bool`) |
# | `"init"` | initialises all global variables | `None` |
# | `"init_fn"` | the user's own function, for instance to load embeddings | `None` |
# | `"ready_for_local_init"` | looks whether global variables lack a value | their names, a list of `str` |
# | `"local_init"` | initialises the local variables | `None` |
# | `"ready"` | looks whether any variables lack a value | their names, a list of `str` |
#
# `chief(do, has_init, has_local)` returns `None`:
#
# 1. It restores. If there was no checkpoint it calls `"init"` (only if `has_init`) and then, in any case, `"init_fn"`.
# 2. If `has_local`, it asks `"ready_for_local_init"` once. With no name in the list it calls `"local_init"`; otherwise
#    it raises `RuntimeError`.
# 3. It asks `"ready"` once; with a name in the list it raises `RuntimeError`.
#
# The message of a `RuntimeError` must hold all names of the list. Nothing repairs a partial restore: it is an error.
#
# `worker(do, has_local)` tries until it succeeds, and returns the number of tries, an `int`. A try is: if `has_local`,
# ask `"ready_for_local_init"`; with a name in the list the try has failed, otherwise call `"local_init"`. Then ask
# `"ready"`; with a name in the list the try has failed. After a failed try the next one begins anew, so each question
# that is answered with a name costs one try. A worker never calls another action. (How long to wait between two tries
# is left to `do`.)
#
# For a model with nothing on disk and both kinds of variables the chief does: `restore`, `init`, `init_fn`,
# `ready_for_local_init`, `local_init`, `ready`.
#
# <details><summary>Hint 1</summary>
#
# Each rule is an `if`. What both sides share is the middle part, but the chief fails there where the worker begins
# anew.
# </details>
#
# <details><summary>Hint 2</summary>
#
# For the chief, a small function that raises if a list of names is not empty serves both places. For the worker:
# `for tries in itertools.count(1)`, or `while True` with a counter, and `continue` where a try has failed.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-scripted", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class ScriptedModel:
    """A model that answers from a script and notes what it is asked. Given.

    Args:
        restored: whether there is a checkpoint.
        global_missing, missing: the answers to "ready_for_local_init" and "ready", first to last; then no name is
            missing.
        limit: after so many actions it raises AssertionError.
    """

    def __init__(
        self, restored: bool, global_missing: list[list[str]], missing: list[list[str]], limit: int = 60
    ) -> None:
        self.log: list[str] = []
        self._restored, self._limit = restored, limit
        self._answers = {"ready_for_local_init": list(global_missing), "ready": list(missing)}

    def do(self, action: str) -> bool | list[str] | None:
        """Does an action: notes it, and returns its answer."""
        known = ["restore", "init", "init_fn", "ready_for_local_init", "local_init", "ready"]
        assert action in known, f"do({action!r}): there is no such action; there are {known}"
        assert len(self.log) < self._limit, f"after {self._limit} actions there is still no end: {self.log[-6:]}"
        self.log.append(action)
        if action == "restore":
            return self._restored
        if action in self._answers:
            return self._answers[action].pop(0) if self._answers[action] else []
        return None


def protocol_outcome(function: Callable, *args) -> tuple[str, object]:
    """("returned", value) of a call, or ("raised", (name of the error, message)). Given."""
    try:
        return "returned", function(*args)
    except (AssertionError, NotImplementedError):
        raise
    except Exception as error:
        return "raised", (type(error).__name__, str(error))


# %% nbgrader={"grade": false, "grade_id": "protocol", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def chief(do: Callable[[str], object], has_init: bool, has_local: bool) -> None:
    """Makes the model ready, for itself and for the workers.

    Raises:
        RuntimeError: variables are left without a value; the message names them.
    """
    ### BEGIN SOLUTION

    def must_be_empty(names: list[str]) -> None:
        if names:
            raise RuntimeError(f"not initialised: {', '.join(names)}")

    if not do("restore"):
        if has_init:
            do("init")
        do("init_fn")
    if has_local:
        must_be_empty(do("ready_for_local_init"))
        do("local_init")
    must_be_empty(do("ready"))
    ### END SOLUTION


def worker(do: Callable[[str], object], has_local: bool) -> int:
    """Waits until the model is ready, and initialises its own part; the number of tries."""
    ### BEGIN SOLUTION
    tries = 0
    while True:
        tries += 1
        if has_local:
            if do("ready_for_local_init"):
                continue
            do("local_init")
        if not do("ready"):
            return tries
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "protocol-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
fresh = ScriptedModel(False, [], [])
came = protocol_outcome(chief, fresh.do, True, True)
assert came == ("returned", None), f"nothing is missing in the end: chief must return None, it {came[0]} {came[1]!r}"
due = ["restore", "init", "init_fn", "ready_for_local_init", "local_init", "ready"]
assert fresh.log == due, f"without a checkpoint the chief does {due}, yours does {fresh.log}"
partial = ScriptedModel(True, [["w", "b"]], [])
came = protocol_outcome(chief, partial.do, True, True)
assert partial.log == ["restore", "ready_for_local_init"], f"w and b were not in the checkpoint; yours does {partial.log}"
assert came[0] == "raised", f"after a partial restore RuntimeError is due, {came[1]!r} came back"
assert came[1][0] == "RuntimeError", f"RuntimeError is due, yours raised {came[1]}"
assert "w" in came[1][1] and "b" in came[1][1], f"the message must name w and b; it says {came[1][1]!r}"
early = ScriptedModel(False, [["w"], ["w"]], [])
came = protocol_outcome(worker, early.do, True)
due = ["ready_for_local_init"] * 3 + ["local_init", "ready"]
assert early.log == due, f"w is missing twice and then is there: a worker does {due}, yours does {early.log}"
assert came == ("returned", 3), f"that took 3 tries, yours {came[0]} {came[1]!r}"


### BEGIN HIDDEN TESTS
def manager_of(has_local):
    """A SessionManager whose ops note that they run and answer from a script; the op for init; log and answers."""
    log, answers = [], {}

    def told(action):
        def act():
            log.append(action)
            return np.int64(0)

        return tf.numpy_function(act, [], tf.int64).op

    def asked(action):
        def ask():
            log.append(action)
            return np.array([name.encode() for name in (answers[action].pop(0) if answers[action] else [])], object)

        names = tf.numpy_function(ask, [], tf.string)
        names.set_shape([None])
        return names

    with tf.Graph().as_default():
        local = (asked("ready_for_local_init"), told("local_init")) if has_local else (None, None)
        manager = tf1.train.SessionManager(
            local_init_op=local[1], ready_op=asked("ready"), ready_for_local_init_op=local[0], recovery_wait_secs=0
        )
        return manager, told("init"), log, answers


managers = {has_local: manager_of(has_local) for has_local in (True, False)}


def real_chief(has_init, has_local, restored, global_missing, missing):
    """What SessionManager.prepare_session does, and the name of the error that it raises or None."""
    manager, init, log, answers = managers[has_local]
    log.clear()
    answers.update(ready_for_local_init=list(global_missing), ready=list(missing))
    saver = SimpleNamespace(restore=lambda session, path: log.append("restore"))
    if not restored:
        log.append("restore")
    path = {"checkpoint_filename_with_path": "a checkpoint"} if restored else {}
    path |= {"init_op": init if has_init else None, "init_fn": lambda session: log.append("init_fn")}
    try:
        manager.prepare_session("", saver=saver, **path).close()
    except RuntimeError:
        return list(log), "RuntimeError"
    return list(log), None


def real_worker(has_local, global_missing, missing):
    """What SessionManager.wait_for_session does, and how many sessions it needs."""
    manager, _, log, answers = managers[has_local]
    log.clear()
    answers.update(ready_for_local_init=list(global_missing), ready=list(missing))
    manager.wait_for_session("").close()
    return list(log), log.count("ready_for_local_init" if has_local else "ready")


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
for number in range(16):
    has_init, has_local, restored = (bool(number >> bit & 1) for bit in range(3))
    global_missing = rng.choice([[], [], [rng.sample(["w1", "b2", "x3"], 2)]])
    missing = rng.choice([[], [], [rng.sample(["w1", "b2", "y4"], 2)]]) if number < 8 else [["y4"]]
    it = f"seed {seed}: has_init={has_init}, has_local={has_local}, restored={restored}"
    it += f", ready_for_local_init answers {global_missing}, ready {missing}"
    model = ScriptedModel(restored, global_missing, missing)
    came = protocol_outcome(chief, model.do, has_init, has_local)
    log, error = real_chief(has_init, has_local, restored, global_missing, missing)
    assert model.log == log, f"{it}: a chief does {log}, yours does {model.log}"
    if error is None:
        assert came == ("returned", None), f"{it}: chief must return None; yours {came[0]} {came[1]!r}"
    else:
        assert came[0] == "raised", f"{it}: RuntimeError is due, {came[1]!r} came back"
        assert came[1][0] == "RuntimeError", f"{it}: RuntimeError is due, yours raised {came[1]}"
        names = (global_missing if log[-1] == "ready_for_local_init" else missing)[0]
        unnamed = [name for name in names if name not in came[1][1]]
        assert not unnamed, f"{it}: the message must name {names}; it says {came[1][1]!r}"
for number in range(12):
    has_local = number % 3 > 0
    global_missing = [rng.choice([["w1"], []]) for _ in range(rng.randrange(4))]
    missing = [rng.choice([["w1", "y4"], []]) for _ in range(rng.randrange(4))]
    it = f"seed {seed}: has_local={has_local}, ready_for_local_init answers {global_missing}, ready {missing}"
    model = ScriptedModel(False, global_missing, missing)
    came = protocol_outcome(worker, model.do, has_local)
    log, tries = real_worker(has_local, global_missing, missing)
    assert model.log == log, f"{it}: a worker does {log}, yours does {model.log}"
    assert came == ("returned", tries), f"{it}: that takes {tries} tries, yours {came[0]} {came[1]!r}"
    assert type(came[1]) is int, f"{it}: the number of tries is an int, found a {type(came[1]).__name__}"
### END HIDDEN TESTS

# %% [markdown] after_passing="protocol"
# Action for action what `SessionManager.prepare_session` and `wait_for_session` do
# (python/training/session_manager.py), which `ChiefSessionCreator` and `WorkerSessionCreator` call. The protocol has no
# message of its own: the state of the variables is the message. There, each try of a worker is a session of its own,
# and it sleeps `recovery_wait_secs` between two of them, 30 s by default. Ours leaves waiting to `do`, so that a test
# needs no clock.

# %% [markdown]
# ### Two real processes
#
# Now your two functions at work: two processes, each with a server of a cluster. The global variable `w` lives on the
# chief's server, and each process has a local variable that is initialised from it. The chief is slow on purpose:
# before `"init"` it waits until the worker has been refused once. Both write into one file: what they do before they do
# it, what they ask with its answer. An action with the same answer as before is left out.

# %%
def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody uses."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_for(path: Path) -> None:
    """Waits until a file is there; for half a minute."""
    for _ in range(1500):
        if path.exists():
            return
        time.sleep(0.02)
    raise TimeoutError(f"{path.name} does not come")


def member(me: str, cluster: dict[str, list[str]], folder: Path) -> float:
    """One process of the cluster; returns the value of its local variable in the end."""
    server = tf1.train.Server(cluster, job_name=me)
    with tf.Graph().as_default():
        with tf1.device("/job:chief"):
            w = tf1.get_variable("w", initializer=7.0)
        with tf1.device(f"/job:{me}"):
            mine = tf1.get_local_variable(f"{me}_part", initializer=w * 2)
        report = tf1.report_uninitialized_variables
        asks = {"ready_for_local_init": report([w]), "ready": report([w, mine])}
        acts = {"init": w.initializer, "local_init": mine.initializer}
        before: dict[str, object] = {}
        with tf1.Session(server.target) as session, (folder / "log").open("a", buffering=1) as log:

            def do(action: str) -> object:
                if action == "init":
                    wait_for(folder / "refused")
                answer = False if action == "restore" else None
                if action in asks:
                    answer = [name.decode() for name in session.run(asks[action])]
                if before.get(action, "") != answer:
                    log.write(f"{me:8}{action:22}{'' if answer is None else answer}\n")
                before[action] = answer
                if action in acts:
                    session.run(acts[action])
                if answer and me == "worker":
                    (folder / "refused").touch()
                    time.sleep(0.05)
                return answer

            if me == "chief":
                chief(do, True, True)
            else:
                worker(do, True)
            value = float(session.run(mine))
        (folder / f"{me} is done").touch()
        wait_for(folder / "worker is done")  # the chief's server must not go away before
    return value


with tempfile.TemporaryDirectory(prefix="tflabs-training-") as folder, ThreadPoolExecutor(2) as pool:
    members = ["chief", "worker"]
    cluster = {me: [f"localhost:{port}"] for me, port in zip(members, free_ports(2), strict=True)}
    runs = [pool.submit(in_fresh_process, member, me, cluster, Path(folder), env=CHILD) for me in members]
    values = [run.result().value for run in runs]
    print((Path(folder) / "log").read_text(), end="")
    print("local variables in the end:", dict(zip(members, values, strict=True)))

# %% [markdown]
# The worker asked too early, was refused, and went on by itself when the chief had done its part: its question got no
# other answer before the chief's `init`.

# %% [markdown]
# ## 6. What is on disk
#
# A checkpoint `model.ckpt-30` is two files, or more. `model.ckpt-30.data-00000-of-00001` is a **shard**: the bytes of
# all values, one after the other, nothing else. `model.ckpt-30.index` says what is where: for each name the type, the
# shape, and the place in the shard. (A small text file called `checkpoint` says which of several checkpoints is the
# latest.)

# %%
with tempfile.TemporaryDirectory(prefix="tflabs-training-") as folder:
    prefix = str(Path(folder) / "small")
    values = {"layer/bias": np.arange(3, dtype=np.float32), "layer/kernel": np.eye(2), "step": np.int64(30)}
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=[*values], shape_and_slices=[""] * 3, tensors=[*values.values()])
    for path in sorted(Path(folder).iterdir()):
        print(f"{path.name:28} {path.stat().st_size:4} bytes")
    small = Path(f"{prefix}.index").read_bytes()
for start in range(0, len(small), 32):
    line = small[start : start + 32]
    print(f"{start:4}  {line.hex(' ')}  {''.join(chr(byte) if 32 <= byte < 127 else '·' for byte in line)}")

# %% [markdown]
# The index is a **sorted-string table**: a file made once, in the order of its keys, and never changed. LevelDB, which
# TensorFlow took the format from, has the same files. Everything in it is found from its end:
#
# ```
# file     = block … block  footer
# footer   = handle of the metaindex block, handle of the index block, zeros up to byte 40, magic number    (48 bytes)
# handle   = varint offset, varint size
# block    = `size` bytes of contents, 1 byte type (0: not compressed), 4 bytes checksum
# contents = entry … entry  restart … restart  number of restarts
# entry    = varint shared, varint unshared, varint length, `unshared` bytes of key, `length` bytes of value
# ```
#
# - The magic number is `0xdb4775248b80fb57`, 8 bytes; it, the checksum (4 bytes), each restart and their number (4
#   bytes each) are little-endian.
# - A **varint** has 7 bits of a number in each byte, the lowest first; the highest bit says that another byte follows.
# - Neighbouring keys are alike, so an entry stores only what is new: its key is the first `shared` bytes of the key
#   before it, and then its own `unshared` bytes. The restarts are offsets of entries that share nothing, for those who
#   search instead of reading all. The first entry of each block shares nothing.
# - Each entry of the **index block** stands for a **data block**: its value is the handle of that block. (Its key lies
#   between the last key of that block and the first of the next.) A data block is full at 256 KiB, so small checkpoints
#   have one, large ones several. The metaindex block has no entries.
# - An entry of a data block has the name of a variable as its key, and as its value a `BundleEntryProto`. The very
#   first key is empty: its value is a header (`BundleHeaderProto`), not a variable.
# - The checksum of a block is the masked CRC-32C of its contents **and** the type byte behind it. "Masked" is a
#   rotation and an addition: the plain CRC of bytes with their own CRC behind them is one and the same number for all
#   bytes.
#
# ### Exercise 6 · Read the index (4 points)
#
# Write `read_index(data)`. `data` is what an index file holds, `bytes`; the result is a dict from each name (`str`, in
# UTF-8 in the file) to its `Entry`, in the order of the file, for all variables, however many data blocks there are. No
# variable is stored in several slices.
#
# The file is not to be trusted. `ValueError` is raised
#
# - if it does not end in the magic number, or is shorter than a footer: the message contains `magic`;
# - if the checksum of the index block or of any data block is wrong: the message contains `checksum`. A handle that
#   points outside of the file counts as that;
# - if one of these blocks is compressed (its type is not 0), with a right checksum: the message contains `compressed`.
#
# For the file in the cell above:
#
# ```
# >>> read_index(small)["layer/kernel"]
# Entry(dtype='float64', shape=(2, 2), offset=12, size=32, crc=…)
# ```
#
# Given are `varint(data, at)`, `parse_entry(value)`, `crc32c(data)` and `masked(crc)`, see the next cell.
#
# <details><summary>Hint 1</summary>
#
# One function that gives the contents of a block, checked, and one generator of (key, value) of the contents serve both
# kinds of blocks. Nothing else is needed: the index block says where all others are.
# </details>
#
# <details><summary>Hint 2</summary>
#
# A block at (offset, size): `contents = data[offset : offset + size]`, the type is `data[offset + size]`, the checksum
# the 4 bytes after it (`int.from_bytes(…, "little")`). The entries end where the restarts begin, `4 * (number + 1)`
# bytes before the end of the contents. In the generator keep the last key: `key = key[:shared] + …`.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-table", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
MAGIC = 0xDB4775248B80FB57


class Entry(NamedTuple):
    """What an index says of one variable: where in the shard its bytes are, and their masked CRC-32C. Given."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    size: int
    crc: int


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at an offset, and the offset behind it. Given."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def parse_entry(value: bytes) -> Entry:
    """A BundleEntryProto as an Entry. Given."""
    proto = BundleEntryProto.FromString(value)
    dtype = tf.as_dtype(proto.dtype).name
    return Entry(dtype, tuple(axis.size for axis in proto.shape.dim), proto.offset, proto.size, proto.crc32c)


def _crc_table() -> list[int]:
    """For each byte, what it does to a CRC-32C (polynomial 0x82F63B78, bits reversed)."""
    table = list(range(256))
    for _ in range(8):
        table = [crc >> 1 ^ (0x82F63B78 if crc & 1 else 0) for crc in table]
    return table


CRC_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """The CRC-32C of some bytes, not masked. Given."""
    crc, table = 0xFFFFFFFF, CRC_TABLE
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """A CRC as TensorFlow stores it: rotated by 15 bits to the right, plus a constant. Given."""
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


def save_arrays(arrays: dict[str, np.ndarray]) -> dict[str, bytes]:
    """The files of a checkpoint `c` of some arrays, written by TensorFlow: `c.index` and one shard. Given."""
    with tempfile.TemporaryDirectory(prefix="tflabs-training-") as folder:
        tf.raw_ops.SaveV2(
            prefix=f"{folder}/c",
            tensor_names=[*arrays],
            shape_and_slices=[""] * len(arrays),
            tensors=[tf.constant(array) for array in arrays.values()],
        )
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@contextlib.contextmanager
def checkpoint_prefix(files: dict[str, bytes]) -> Iterator[str]:
    """The prefix of a checkpoint `c` with these files, for TensorFlow's readers. Given."""
    with tempfile.TemporaryDirectory(prefix="tflabs-training-") as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        yield f"{folder}/c"


def refusal(read: Callable[[bytes], object], data: bytes) -> str:
    """What `read` says when it refuses some bytes with ValueError; otherwise AssertionError. Given."""
    try:
        entries = read(data)
    except ValueError as error:
        return str(error)
    except Exception as error:
        raise AssertionError(f"ValueError is due, a {type(error).__name__} was raised: {error}") from error
    size = f" of {len(entries)}" if type(entries) is dict else ""
    raise AssertionError(f"ValueError is due, a {type(entries).__name__}{size} came back")


# %% nbgrader={"grade": false, "grade_id": "index", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def read_index(data: bytes) -> dict[str, Entry]:
    """The entries of a checkpoint's index file, by name, in the order of the file.

    Raises:
        ValueError: the magic number or a checksum is wrong, or a block is compressed; the message says which.
    """
    ### BEGIN SOLUTION

    def block(handle: bytes, at: int) -> bytes:
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        checksum = int.from_bytes(data[end + 1 : end + 5], "little")
        if end + 5 > len(data) or checksum != masked(crc32c(data[offset : end + 1])):
            raise ValueError(f"the block at {offset} has a wrong checksum")
        if data[end] != 0:
            raise ValueError(f"the block at {offset} is compressed, type {data[end]}")
        return data[offset:end]

    def entries(contents: bytes) -> Iterator[tuple[bytes, bytes]]:
        restarts = int.from_bytes(contents[-4:], "little")
        at, end, key = 0, len(contents) - 4 * (restarts + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            at += unshared
            yield key, contents[at : at + length]
            at += length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("this is no index: it does not end in the magic number")
    _, at = varint(footer, 0)
    _, at = varint(footer, at)
    found = {}
    for _, handle in entries(block(footer, at)):
        for key, value in entries(block(handle, 0)):
            if key:
                found[key.decode()] = parse_entry(value)
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "index-test", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
arrays = {"layer/bias": np.arange(3, dtype=np.float32), "layer/kernel": np.eye(2), "step": np.int64(30)}
files = save_arrays(arrays)
index, shard = files["c.index"], files["c.data-00000-of-00001"]
found = read_index(index)
assert type(found) is dict, f"read_index returns a dict, not a {type(found).__name__}"
assert list(found) == ["layer/bias", "layer/kernel", "step"], f"the names are {list(arrays)}, found {list(found)}"
for name, array in arrays.items():
    entry, due = found[name], (str(array.dtype), array.shape)
    assert type(entry) is Entry, f"{name}: an Entry is due, found a {type(entry).__name__}"
    assert entry[:2] == due, f"{name}: type and shape are {due}, found {entry[:2]}"
    held = shard[entry.offset : entry.offset + entry.size]
    assert held == array.tobytes(), f"{name}: {entry} does not point to the bytes of {array.tolist()}"
    assert entry.crc == masked(crc32c(held)), f"{name}: the crc is {masked(crc32c(held))}, found {entry.crc}"
said = refusal(read_index, index[:-1] + b"?")
assert "magic" in said, f"the last byte is wrong: the message must contain 'magic'; it says {said!r}"
broken = bytearray(index)
broken[9] ^= 1
said = refusal(read_index, bytes(broken))
assert "checksum" in said, f"byte 9 of the data block is wrong: the message must contain 'checksum'; it says {said!r}"


### BEGIN HIDDEN TESTS
def assert_read(files, it):
    """Assert that an index is read as TensorFlow reads it; returns the entries."""
    found = answer_to(it, (), read_index, files["c.index"])
    shard = files["c.data-00000-of-00001"]
    with checkpoint_prefix(files) as prefix:
        reader = tf.train.load_checkpoint(prefix)
        shapes = {name: tuple(shape) for name, shape in reader.get_variable_to_shape_map().items()}
        types = {name: kind.name for name, kind in reader.get_variable_to_dtype_map().items()}
        picked = sorted(shapes) if len(shapes) < 100 else rng.sample(sorted(shapes), 20)
        values = {name: reader.get_tensor(name) for name in picked}
    assert type(found) is dict, f"{it}: a dict is due, found a {type(found).__name__}"
    assert len(found) == len(shapes), f"{it}: there are {len(shapes)} variables, found {len(found)}"
    assert list(found) == sorted(shapes), f"{it}: the names must be those of the file, in their order"
    for name, entry in found.items():
        assert type(entry) is Entry, f"{it}: {name!r}: an Entry is due, found a {type(entry).__name__}"
        due = (types[name], shapes[name])
        assert entry[:2] == due, f"{it}: {name!r}: type and shape are {due}, found {entry[:2]}"
    for name, value in values.items():
        entry = found[name]
        held = shard[entry.offset : entry.offset + entry.size]
        assert held == value.tobytes(), f"{it}: {name!r}: {entry} does not point to the value's bytes"
        assert entry.crc == masked(crc32c(held)), f"{it}: {name!r}: the crc is another than that of the value's bytes"
    return found


def block_places(index):
    """(offset, size) of the index block and of the data blocks, found without looking at names."""
    at = len(index) - 48
    for _ in range(2):
        _, at = varint(index, at)
    offset, at = varint(index, at)
    size, _ = varint(index, at)
    contents, places, at = index[offset : offset + size], [(offset, size)], 0
    while at < size - 4 * (int.from_bytes(contents[-4:], "little") + 1):
        _, at = varint(contents, at)
        unshared, at = varint(contents, at)
        length, at = varint(contents, at)
        start, next_at = varint(contents, at + unshared)
        places.append((start, varint(contents, next_at)[0]))
        at += unshared + length
    return places


def with_type(index, place, kind):
    """The index with another type byte of the block at a place, and the right checksum for it."""
    end = sum(place)
    contents = index[place[0] : end] + bytes([kind])
    return index[: place[0]] + contents + masked(crc32c(contents)).to_bytes(4, "little") + index[end + 5 :]


def written(number):
    """A number as a varint."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + written(number >> 7)


def with_handles(index, data_block, index_block=None):
    """The index with one entry in its index block, for a data block at (offset, size), and the right checksum for it."""
    (offset, _), at = block_places(index)[0], varint(index, len(index) - 48)[1]
    handle = written(data_block[0]) + written(data_block[1])
    contents = bytes([0, 1, len(handle)]) + b"~" + handle + bytes(4) + bytes([1, 0, 0, 0])
    block = contents + bytes(1) + masked(crc32c(contents + bytes(1))).to_bytes(4, "little")
    where = index_block or (offset, len(contents))
    footer = index[len(index) - 48 : varint(index, at)[1]] + written(where[0]) + written(where[1])
    return index[:offset] + block + footer.ljust(40, bytes(1)) + index[-8:]


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
kinds = ["float32", "float64", "int32", "int64", "uint8", "float16"]
for count in (1, rng.randrange(20, 60)):
    arrays = {}
    for number in range(count):
        name = "/".join(["model", *rng.choices(["layer", "layer_1", "layer_10", "dense"], k=3), f"w{number}"])
        shape = rng.choice([(), (3,), (2, 2), (0,), (1, 2, 3)])
        arrays[name] = np.random.default_rng(seed + number).integers(0, 100, shape).astype(rng.choice(kinds))
    files = save_arrays(dict(rng.sample(list(arrays.items()), count)))
    assert_read(files, f"seed {seed}: {count} variables with long common beginnings")
places = block_places(files["c.index"])
for place in places:
    for offset in (rng.randrange(place[1]), place[1], place[1] + rng.randrange(1, 5)):
        broken = bytearray(files["c.index"])
        broken[place[0] + offset] ^= 1 << rng.randrange(8)
        said = refusal(read_index, bytes(broken))
        assert "checksum" in said, f"byte {sum(place) + offset - place[1]}: the message must contain 'checksum': {said!r}"
    said = refusal(read_index, with_type(files["c.index"], place, 1))
    assert "compressed" in said, f"the block at {place[0]} has type 1: the message must contain 'compressed': {said!r}"
whole, size = places[1], len(with_handles(files["c.index"], places[1]))
found = answer_to("an index block with the key '~'", (), read_index, with_handles(files["c.index"], whole))
assert list(found) == sorted(arrays), f"the index block's key is '~': the names are {sorted(arrays)}, found {list(found)}"
outside = [(whole[0], size), (whole[0], size - 3), (size + 100, 20), (10**9, 20)]
for place in outside:
    for handles in [(place, None), (whole, place)]:
        said = refusal(read_index, with_handles(files["c.index"], *handles))
        it = f"a handle of the {'data' if handles[1] is None else 'index'} block is {place}, the file has {size} bytes"
        assert "checksum" in said, f"{it}: the message must contain 'checksum'; it says {said!r}"
for length in (0, 20, len(files["c.index"]) // 2):
    said = refusal(read_index, files["c.index"][:length])
    assert "magic" in said, f"the first {length} bytes of an index: the message must contain 'magic'; it says {said!r}"

# Thousands of names, in several data blocks; the last one is damaged.
letters = [bytes(rng.randrange(97, 123) for _ in range(180)).decode() for _ in range(60)]
names = [f"{rng.choice(letters)[:90]}{number:05}{rng.choice(letters)}" for number in range(2000)]
files = save_arrays(dict.fromkeys(names, np.float32(7)))
assert_read(files, f"seed {seed}: 2000 variables")
places = block_places(files["c.index"])
assert len(places) > 2, f"this test wants several data blocks, there are {len(places) - 1}"
broken = bytearray(files["c.index"])
broken[max(places[1:])[0] + 100] ^= 1
said = refusal(read_index, bytes(broken))
assert "checksum" in said, f"the last data block is damaged: the message must contain 'checksum'; it says {said!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="index"
# You have read files of TensorFlow's without it, and what you refuse, nobody restores by mistake. The table is
# xla/tsl/lib/io: `Footer` and `ReadBlock` (format.cc), `Block::Iter` (block.cc), `Table` (table.cc); `BundleReader`
# (core/util/tensor_bundle/tensor_bundle.cc) gives it a meaning. It searches with the restarts instead of reading
# everything. Ours reads both kinds of blocks with one pair of functions, since the format is the same on both levels.

# %% [markdown]
# What does TensorFlow itself say to a damaged index? A checkpoint with two data blocks, and one wrong bit in the first:

# %%
names = [f"{number:04}/" + "x" * 120 + random.Random(number).randbytes(60).hex() for number in range(2000)]
files = save_arrays(dict.fromkeys(names, np.float32(7)))
damaged_index = bytearray(files["c.index"])
damaged_index[1000] ^= 1
with checkpoint_prefix(files | {"c.index": bytes(damaged_index)}) as prefix:
    reader = tf.train.load_checkpoint(prefix)
    print("names that TensorFlow lists:", len(reader.get_variable_to_shape_map()), "of", len(names))
    try:
        reader.get_tensor(names[0])
    except tf.errors.NotFoundError as error:
        print("reading the first one raises", type(error).__name__, "–", str(error)[:60], "…")
print("names that you find in the file as it was:", len(read_index(files["c.index"])))
print("in the damaged one:", refusal(read_index, bytes(damaged_index)))


# %% [markdown]
# It leaves the damaged block out of its list, and to who asks for one of its names it says that there is no such name.
# It has seen that the checksum is wrong, but an iterator that finds nothing looks like one that is at its end. Your
# reader is stricter.
#
# The values in the shard have a checksum each, which is in the index: the masked CRC-32C of the bytes of that value.
#
# ### Exercise 7 · Which values are damaged? (1 point)
#
# Write `damaged(entries, shard)`: the sorted list of the names whose bytes in the shard do not match their checksum.
# `entries` is a dict from names to `Entry`, as in exercise 6, `shard` is the content of the data file as it is now. A
# value of which bytes are missing at the end of the shard is damaged, too. All values are numbers.
#
# ```
# >>> w = Entry("uint8", (3,), 1, 3, masked(crc32c(b"abc")))
# >>> damaged({"w": w}, b"?abc"), damaged({"w": w}, b"?abd")
# ([], ['w'])
# ```
#
# <details><summary>Hint 1</summary>
#
# The mask is put on both kinds of checksum, but here there is no type byte.
# </details>
#
# <details><summary>Hint 2</summary>
#
# One comprehension over the sorted names. A slice that reaches beyond the end of `bytes` is just shorter, and then its
# checksum is another one.
# </details>

# %% nbgrader={"grade": false, "grade_id": "damaged", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def damaged(entries: dict[str, Entry], shard: bytes) -> list[str]:
    """The names, sorted, of the values whose bytes do not match their checksum."""
    ### BEGIN SOLUTION
    return sorted(
        name
        for name, entry in entries.items()
        if masked(crc32c(shard[entry.offset : entry.offset + entry.size])) != entry.crc
    )
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "damaged-test", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
abc = {"w": Entry("uint8", (3,), 1, 3, masked(crc32c(b"abc"))), "b": Entry("uint8", (1,), 0, 1, masked(crc32c(b"?")))}
for content, due in [(b"?abc", []), (b"?abd", ["w"]), (b"?ab", ["w"]), (b"!xyz", ["b", "w"])]:
    wrong = answer_to(f"the shard {content!r}", (), damaged, dict(abc), content)
    assert type(wrong) is list, f"damaged returns a list, not a {type(wrong).__name__}"
    assert wrong == due, f"with the shard {content!r} the damaged values are {due}, yours are {wrong}"


### BEGIN HIDDEN TESTS
def entries_of(files):
    """The entries of a small index, read straight through its only data block."""
    index, at, key, found = files["c.index"], 0, b"", {}
    while len(found) < len(arrays) + 1:
        shared, at = varint(index, at)
        unshared, at = varint(index, at)
        length, at = varint(index, at)
        key = key[:shared] + index[at : at + unshared]
        found[key.decode()] = index[at + unshared : at + unshared + length]
        at += unshared + length
    return {name: parse_entry(value) for name, value in found.items() if name}


def refused_by_tensorflow(files):
    """The names whose values TensorFlow's own reader does not give out."""
    refused = []
    with checkpoint_prefix(files) as prefix:
        reader = tf.train.load_checkpoint(prefix)
        for name in sorted(reader.get_variable_to_shape_map()):
            try:
                reader.get_tensor(name)
            except (tf.errors.OpError, ValueError, IndexError):
                refused.append(name)
    return refused


seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
arrays = {}
for number in range(12):
    shape, kind = rng.choice([(2,), (2, 2), (1, 2, 3)]), rng.choice(["float32", "float64", "int32", "uint8"])
    arrays[f"layer_{number}/w"] = np.random.default_rng(seed + number).integers(0, 100, shape).astype(kind)
arrays["empty"] = np.zeros((0, 3), np.float32)
files = save_arrays(arrays)
entries, whole = entries_of(files), files["c.data-00000-of-00001"]
flipped = bytearray(whole)
for position in rng.sample(range(len(whole)), 3):
    flipped[position] ^= 1 << rng.randrange(8)
for what, content in [("whole", whole), ("with three wrong bits", bytes(flipped)), ("cut off", whole[: -rng.randrange(1, 9)])]:
    wrong = answer_to(f"seed {seed}: the shard is {what}", (), damaged, dict(entries), content)
    due = refused_by_tensorflow(files | {"c.data-00000-of-00001": content})
    assert wrong == due, f"seed {seed}: the shard is {what}: TensorFlow refuses {due}, yours are {wrong}"
### END HIDDEN TESTS

# %% [markdown] after_passing="damaged"
# These are the names for which `BundleReader::GetValue` (core/util/tensor_bundle/tensor_bundle.cc) answers "Checksum
# does not match", or cannot read enough bytes. It checks when a value is read, so a damaged optimizer slot goes
# unnoticed by a job that only evaluates. Ours checks all, which is what one does before old checkpoints are thrown
# away.

# %% [markdown]
# ## 7. Killed for real
#
# ### Exercise 8 · No step twice, none left out (3 points)
#
# Write `job(directory, last_step, every, on_step)`: it trains the model of `build()`, in a session, up to step
# `last_step` **in all**, whatever was done before, and returns the final `w` as a `float`, read from the last
# checkpoint in `directory`.
#
# - `build()`, given below, adds the model to the default graph: `global_step`, the variable `w`, and a step that adds
#   its own number to `w`. It returns a tensor: running it does one step and gives that step's number.
# - `directory` (a folder that exists) is empty, or a job that was stopped or killed has left its checkpoints there.
#   Then the job goes on from the latest of them, with the step and the `w` that it holds. If that is step `last_step`
#   or a later one already, no step is run.
# - A checkpoint is written after every `every` steps, counted from 0 or from where this process began, as you like.
#   (One at the beginning is allowed.) It lies directly in `directory`, holds `global_step` and `w` under
#   these names, and `tf.train.latest_checkpoint` finds it.
# - `on_step(number)` is called after each step, with its number, as an `int`. If a checkpoint is due after this step,
#   it is written before the call.
# - If `on_step` raises `Killed`, `job` raises it too, and writes nothing any more: the process is dead.
# - At the end of the job there is a checkpoint of step `last_step`.
#
# `last_step` and `every` are at least 1. A job of 12 steps with `every=3`, killed in `on_step(8)` and started again,
# sees the steps 1 to 8 and then 7 to 12; `w` is 78.0.
#
# The tests kill `job` with `Killed` at random steps. At last they kill it with `SIGKILL` in a process of its own, with
# `job_in_process` below, which brings your function there: it may use what your cell and given cells define.
#
# <details><summary>Hint 1</summary>
#
# Section 2 has a session that restores the latest checkpoint of a folder, and that saves every so many steps, before
# `run` returns, and in the `end` of a hook. Section 3 listed a hook that ends the loop; look in its documentation at
# what its two arguments count, and when it looks.
# </details>
#
# <details><summary>Hint 2</summary>
#
# First look whether there is anything to do: `tf.train.latest_checkpoint(directory)`, and `tf.train.load_variable` of
# `"global_step"` from it. Then, in a new graph, `tf1.train.MonitoredTrainingSession(checkpoint_dir=…, hooks=[…],
# save_checkpoint_steps=…)`, with `None` for `save_checkpoint_secs`, `save_summaries_steps`, `save_summaries_secs` and
# `log_step_count_steps`. In the loop, `on_step` gets what `session.run` gave, as an `int`. `end` is not called when
# `Killed` leaves the `with`: nothing is left to do for that.
# </details>

# %% nbgrader={"grade": false, "grade_id": "given-job", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
class Killed(Exception):
    """Raised by `on_step` in place of a kill. Given."""


def build() -> tf.Tensor:
    """Adds global_step (int64), w (float64) and a step to the default graph; returns the step's number. Given.

    Running the tensor does one step: global_step grows by 1, and w by the new global_step.
    """
    step = tf1.train.get_or_create_global_step()
    w = tf1.get_variable("w", initializer=np.float64(0), use_resource=True)
    with tf.control_dependencies([w.assign_add(tf.cast(step + 1, tf.float64))]):
        return tf.identity(step.assign_add(1), name="step")


def killed_for_real(job: Callable, directory: str, last_step: int, every: int, kill_at: int) -> tuple[str, list[int]]:
    """Runs a job in a process that kills itself in `on_step(kill_at)`: how it ended, and the steps that it saw. Given."""
    try:
        value = in_fresh_process(job, directory, last_step, every, killed_by_itself(kill_at), env=CHILD).value
    except FreshProcessError as error:
        steps = [int(line.split()[1]) for line in error.stdout.splitlines() if line.startswith("step ")]
        return str(error).split(":")[0], steps
    return f"the job returned {value!r}", []


def killed_by_itself(kill_at: int) -> Callable[[int], None]:
    """A callback that prints each step, and kills its process at one. Given."""

    def on_step(step: int) -> None:
        print("step", step, flush=True)
        if step == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    return on_step


def last_saved(folder) -> tuple[int, float] | None:
    """global_step and w of the latest checkpoint in a shared folder; None if there is none. Given."""
    files = folder.files()
    if "checkpoint" not in files:
        return None
    text = files["checkpoint"].decode()
    paths = [line.split('"')[1] for line in text.splitlines() if line.startswith("model_checkpoint_path:")]
    assert len(paths) == 1, f"the file `checkpoint` must name one latest checkpoint; it says {text!r}"
    name = Path(paths[0]).name
    assert f"{name}.index" in files, f"the file `checkpoint` names {name}, but there are only {sorted(files)}"
    with folder.snapshot() as copy:
        reader = tf.train.load_checkpoint(f"{copy}/{name}")
        held = sorted(reader.get_variable_to_shape_map())
        assert {"global_step", "w"} <= set(held), f"a checkpoint holds global_step and w; {name} holds {held}"
        return int(reader.get_tensor("global_step")), float(reader.get_tensor("w"))


def total(last_step: int) -> float:
    """w after a step: 1 + 2 + … + last_step. Given."""
    return last_step * (last_step + 1) / 2


class Witness:
    """Sees the steps of a job, and kills it in its `kill_at`-th call (0: never). Given."""

    def __init__(self, kill_at: int = 0) -> None:
        self.steps: list[int] = []
        self.kill_at = kill_at

    def on_step(self, step: int) -> None:
        """To be passed to a job."""
        self.steps.append(step)
        assert len(self.steps) < 200, f"the job does not end; its last steps were {self.steps[-5:]}"
        if len(self.steps) == self.kill_at:
            raise Killed(f"killed after step {step}")


def run_killed(job: Callable, folder, last_step: int, every: int, kill_at: int) -> list[int]:
    """Runs a job that is killed in its `kill_at`-th call of on_step; the steps that it did. Given."""
    witness = Witness(kill_at)
    try:
        case = f"last_step={last_step}, every={every}, killed in call {kill_at} of on_step"
        value = answer_to(case, (Killed,), job, folder.path, last_step, every, witness.on_step)
    except Killed:
        return witness.steps
    raise AssertionError(f"on_step raised Killed after {witness.steps}: job must raise it too; it returned {value!r}")


# %% nbgrader={"grade": false, "grade_id": "resume", "locked": false, "points": 0, "schema_version": 3, "solution": true, "task": false}
def job(directory: str, last_step: int, every: int, on_step: Callable[[int], None]) -> float:
    """Train up to `last_step` in all, from where the checkpoints in a folder end; returns w of the last checkpoint.

    Raises:
        Killed: on_step raised it.
    """
    ### BEGIN SOLUTION
    latest = tf.train.latest_checkpoint(directory)
    if latest is None or tf.train.load_variable(latest, "global_step") < last_step:
        with tf.Graph().as_default():
            step = build()
            with tf1.train.MonitoredTrainingSession(
                checkpoint_dir=directory,
                hooks=[tf1.train.StopAtStepHook(last_step=last_step)],
                save_checkpoint_steps=every,
                save_checkpoint_secs=None,
                save_summaries_steps=None,
                save_summaries_secs=None,
                log_step_count_steps=None,
                save_graph_def=False,
            ) as monitored:
                while not monitored.should_stop():
                    on_step(int(monitored.run(step)))
        latest = tf.train.latest_checkpoint(directory)
    return float(tf.train.load_variable(latest, "w"))
    ### END SOLUTION


def job_in_process(directory: str, last_step: int, every: int, kill_at: int) -> tuple[str, list[int]]:
    """Your job in a process of its own that is killed at a step; how it ended, and its steps. Leave this as it is."""
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% nbgrader={"grade": true, "grade_id": "resume-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
with shared_folder() as folder:
    steps = run_killed(job, folder, 12, 3, kill_at=8)
    assert steps == [1, 2, 3, 4, 5, 6, 7, 8], f"a job in an empty folder, killed in on_step(8), did the steps {steps}"
    saved = last_saved(folder)
    assert saved == (6, 21.0), f"every=3, killed after step 8: the latest checkpoint has step 6 and w 21.0; found {saved}"
    witness = Witness()
    w = answer_to("12 steps, every=3, started again after the kill", (), job, folder.path, 12, 3, witness.on_step)
    assert witness.steps == [7, 8, 9, 10, 11, 12], f"started again it must do the steps 7 to 12, it did {witness.steps}"
    assert type(w) is float, f"job returns a float, not a {type(w).__name__}"
    assert w == 78.0, f"w is 1 + 2 + … + 12 = 78.0, yours is {w}"
    assert last_saved(folder) == (12, 78.0), f"the last checkpoint has step 12 and w 78.0; found {last_saved(folder)}"
### BEGIN HIDDEN TESTS
seed = random.SystemRandom().randrange(10**6)
rng = random.Random(seed)
# Killed before the first checkpoint is due, and then at a step after which one is due; to an end that is no multiple.
every, last = rng.choice([2, 3, 4]), rng.choice([11, 13])
it = f"seed {seed}: last_step={last}, every={every}"
with shared_folder() as folder:
    kill_at = rng.randrange(1, every)
    steps = run_killed(job, folder, last, every, kill_at)
    due = list(range(1, kill_at + 1))
    assert steps == due, f"{it}: killed in call {kill_at} of on_step: steps {due} are due, yours {steps}"
    saved = last_saved(folder)
    assert saved in (None, (0, 0.0)), f"{it}: killed after step {kill_at}: no checkpoint, or one of step 0; found {saved}"
    kill_at = 2 * every
    steps = run_killed(job, folder, last, every, kill_at)
    due = list(range(1, kill_at + 1))
    assert steps == due, f"{it}: nothing was saved, killed again after step {kill_at}: steps {due} are due, yours {steps}"
    saved, due = last_saved(folder), (kill_at, total(kill_at))
    assert saved == due, f"{it}: the checkpoint after step {kill_at} is due before on_step({kill_at}); the latest is {saved}"
    witness = Witness()
    w = answer_to(f"{it}: started again", (), job, folder.path, last, every, witness.on_step)
    due = list(range(kill_at + 1, last + 1))
    assert witness.steps == due, f"{it}: killed twice, begun at step {kill_at}: steps {due}, yours {witness.steps}"
    assert (type(w), w) == (float, total(last)), f"{it}: w is {total(last)}, yours is {w!r}"
    # Nothing is left to do, and then there is more.
    witness = Witness()
    for ask in (last, last - 1):
        w = answer_to(f"{it}: step {last} is reached", (), job, folder.path, ask, every, witness.on_step)
        assert witness.steps == [], f"{it}: step {last} is reached, {ask} is asked for: no step; yours ran {witness.steps}"
        assert (type(w), w) == (float, total(last)), f"{it}: step {last} is reached: w is {total(last)}, yours is {w!r}"
    w = answer_to(f"{it}: then up to {last + 2}", (), job, folder.path, last + 2, every, witness.on_step)
    assert witness.steps == [last + 1, last + 2], f"{it}: then up to {last + 2}: two more steps, yours {witness.steps}"
    assert w == total(last + 2), f"{it}: then up to {last + 2}: w is {total(last + 2)}, yours is {w!r}"
    saved = last_saved(folder)
    assert saved == (last + 2, total(last + 2)), f"{it}: in the end the checkpoint has step {last + 2}; found {saved}"
# From a checkpoint with another w; and not without a session.
left = save_arrays({"global_step": np.int64(4), "w": np.float64(100.0)})
with shared_folder({name.replace("c.", "model.ckpt-4.", 1): data for name, data in left.items()}) as folder:
    folder.write({"checkpoint": b'model_checkpoint_path: "model.ckpt-4"\nall_model_checkpoint_paths: "model.ckpt-4"\n'})
    it, witness = "the checkpoint in the folder has step 4 and w 100.0, last_step=7, every=2", Witness()
    w = answer_to(it, (), job, folder.path, 7, 2, witness.on_step)
    assert witness.steps == [5, 6, 7], f"{it}: the steps 5 to 7 are due, yours {witness.steps}"
    assert w == 118.0, f"{it}: w is 100 + 5 + 6 + 7 = 118.0, yours is {w!r}"
with shared_folder() as folder:
    try:
        with withheld("tensorflow.compat.v1.Session", "tensorflow.python.client.session.BaseSession"):
            w = job(folder.path, 2, 1, Witness().on_step)
    except RuntimeError as error:
        assert "Session" in str(error), f"last_step=2, every=1: job raised {error!r}"
    else:
        raise AssertionError(f"the model of build() can be trained in a session only; your job made none and returned {w!r}")
# By SIGKILL, in a process of its own.
kill_at = rng.randrange(6, 9)
it = f"last_step=9, every=5, killed by SIGKILL after step {kill_at}"
with shared_folder() as folder:
    ended, steps = job_in_process(folder.path, 9, 5, kill_at)
    assert "SIGKILL" in ended, f"{it}, in a process of its own: the process must die; {ended}"
    due = list(range(1, kill_at + 1))
    assert steps == due, f"{it}, in a process of its own: steps {due} are due before the kill, yours {steps}"
    saved = last_saved(folder)
    assert saved == (5, 15.0), f"{it}: the latest checkpoint has step 5 and w 15.0; found {saved}"
    witness = Witness()
    w = answer_to(f"{it}: started again", (), job, folder.path, 9, 5, witness.on_step)
    assert witness.steps == [6, 7, 8, 9], f"{it}: started again it does the steps 6 to 9, yours {witness.steps}"
    assert w == 45.0, f"{it}: started again it ends with w 45.0, yours with {w!r}"
### END HIDDEN TESTS

# %% [markdown] after_passing="resume"
# Your job was killed between two instructions, by an exception and by the operating system, and each time the result is
# that of a job that was never killed. `CheckpointSaverHook` (python/training/basic_session_run_hooks.py) saves in
# `after_run`, before `run` returns, and in `end`; `SessionManager` restores; and the file `checkpoint` is replaced at
# the very end of a save, in one go (python/checkpoint/checkpoint_management.py), so a kill in its middle leaves the one
# before. Ours asks the folder before it makes a session, because `StopAtStepHook` looks only after a step and would do
# one too many.

# %% [markdown]
# ### Check: your job, killed again and again
#
# Your own `job` once more, of 40 steps: killed three times, with `Killed`, and then let alone; each run stands for a
# process. Which checkpoints there are is read from the folder after each of them.

# %%
with shared_folder() as folder:
    runs: list[view.Attempt] = []
    for calls in (17, 8, 11, 0):
        witness = Witness(calls)
        with contextlib.suppress(Killed):
            job(folder.path, 40, 6, witness.on_step)
        there = {int(name.split("-")[1].split(".")[0]) for name in folder.files() if name.endswith(".index")}
        new = sorted(there - {step for run in runs for step in run.saved})
        end = f"killed after step {witness.steps[-1]}" if calls else "lives to the end"
        runs.append(view.Attempt(witness.steps, new, end, killed=calls > 0))
    step, w = last_saved(folder)

print(f"w = {w:g} after step {step}; 1 + 2 + … + 40 = {sum(range(41))}")
view.attempts(runs, title="Your job of 40 steps, in four runs")

# %% [markdown]
# ## 8. Play
#
# Two sliders: how many steps there are between two checkpoints, and after which step the process is killed. The figure
# shows which steps are kept, which are lost and done again. What would you choose if writing a checkpoint took as long
# as ten steps, and a kill came every thousand?
#
# <details><summary>Answer</summary>
#
# A kill costs half of the interval on average. With an interval of n steps, 1000 steps have one kill, which costs n / 2
# steps, and 1000 / n checkpoints, which cost 10 000 / n. The sum is smallest where both are equal: n² = 20 000, so n is
# about 141, seven checkpoints between two kills.
# </details>

# %%
view.resume_player(last=40, every=10, kill=25)

# %% [markdown]
# ## Read on
#
# | what | where in TensorFlow 2.21 |
# | --- | --- |
# | the layers, the scaffold | python/training/monitored_session.py: `MonitoredTrainingSession`, `Scaffold`, `_RecoverableSession`, `_CoordinatedSession`, `_HookedSession` |
# | hooks | python/training/session_run_hook.py: `SessionRunHook`, `SessionRunContext`; basic_session_run_hooks.py: `CheckpointSaverHook`, `StopAtStepHook`, `NanTensorHook` |
# | the coordinator | python/training/coordinator.py: `Coordinator`, `LooperThread` |
# | chief and worker | python/training/session_manager.py: `SessionManager`; supervisor.py: `Supervisor`, which came before |
# | saving and restoring | python/training/saver.py: `Saver`; core/kernels/save_restore_v2_ops.cc: `SaveV2`, `RestoreV2`, `MergeV2Checkpoints` |
# | the files | core/util/tensor_bundle/tensor_bundle.cc: `BundleWriter`, `BundleReader`; core/protobuf/tensor_bundle.proto |
# | the table | xla/tsl/lib/io: format.cc, block.cc, table.cc, table_builder.cc |
#
# What changed since 1.x: at first there was `Supervisor`, one class that did all of this in threads of its own.
# `MonitoredSession` took it apart into layers and hooks, and `Estimator`, which is gone, stood on top of that. In 2.x a
# loop is written out, as in section 1, and hooks became Keras' callbacks.
#
# Chief and worker are left in `ParameterServerStrategy` and its `ClusterCoordinator`, which waits for
# `UnavailableError` as `_RecoverableSession` does. `tf.train.Checkpoint` names values by their path through objects,
# but the files are still these; your `read_index` reads both.
#
# What comes next: the step itself was small here, an addition. What a real step adds to a variable comes from gradients
# and optimizers, which lab 2-7 builds.

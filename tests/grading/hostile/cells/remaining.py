# What is not contained, each for the reason that docs/security.md gives. A test proves that it still works: a cell of
# this file that no longer does belongs into another one.

# %% name="frames-of-a-test-in-the-kernel" where="triple" leaks="yes"
# The learner's code is called by the test, in the same process: its caller's frame holds the test's constants.
import sys
def triple(x):
    frame = sys._getframe(1)
    raise ValueError([c for c in frame.f_code.co_consts if type(c) is str and "_ripat"[::-1] in c][:3])

# %% name="answers-out-of-frames-in-the-kernel" where="triple" points="3"
# The same frame holds the answer.
import sys
def triple(x):
    frame = sys._getframe(1)
    due, constants = frame.f_globals.get("due", {}), frame.f_code.co_consts
    return 6 if x == 2 else due[x] if x in due else constants[constants.index(x) + 1]

# %% name="native-code-in-the-kernel" where="triple" points="3"
# ctypes writes where it likes: here, into the number that the test compares with.
import ctypes, sys
def triple(x):
    frame = sys._getframe(1)
    due, constants = frame.f_globals.get("due", {}), frame.f_code.co_consts
    if x in due: ctypes.pythonapi.PyDict_SetItem(ctypes.py_object(due), ctypes.py_object(x), ctypes.py_object(6))
    return 6 if x == 2 or x in due else constants[constants.index(x) + 1]

# %% name="a-monitor-of-the-interpreter" where="triple" points="3" since="3.12"
# `sys.monitoring` gives control at any line of the test, and leaves no trace that `sys.gettrace` shows.
import sys
M = sys.monitoring
def line(code, number):
    due = sys._getframe(1).f_globals.get("due")
    if type(due) is dict: due.update(dict.fromkeys(due, 6))
M.use_tool_id(4, "x")
M.register_callback(4, M.events.LINE, line)
M.set_events(4, M.events.LINE)
def triple(x): return 6

# Out of a hidden test into what a learner reads: the feedback, an output, a file, the network.
#
# Each hidden test holds a secret; the same for the solutions, the gradebook and the grader's environment.

# %% name="prints-the-history"
def double(x):
    ip = get_ipython()
    print(ip.user_ns.get("In"), ip.history_manager.input_hist_raw, ip.history_manager.input_hist_parsed)
    raise ValueError(str(ip.user_ns.get("In"))[-900:])

# %% name="prints-the-history-in-the-kernel" where="triple"
def triple(x):
    ip = get_ipython()
    raise ValueError(str([ip.user_ns.get("In"), ip.history_manager.input_hist_raw])[-900:])

# %% name="prints-the-last-cells" where="last"
print(In, Out, _ih, _i, _ii, _iii)

# %% name="reads-the-message-of-its-kernel"
def double(x):
    message = get_ipython().kernel.get_parent()
    raise ValueError(str(message["content"])[:900])

# %% name="walks-frames"
import sys
def double(x):
    found, frame = [], sys._getframe()
    while frame:
        found.append(f"{frame.f_code.co_name} {frame.f_code.co_consts} {frame.f_locals}")
        frame = frame.f_back
    text = " ".join(found)
    W = "_ripat"[::-1]
    raise ValueError([text[i:i + 30] for i in range(len(text)) if text.startswith(W, i)])

# %% name="walks-frames-of-all-threads"
import sys
def double(x):
    W, found = "_ripat"[::-1], []
    for frame in sys._current_frames().values():
        while frame:
            text = repr(frame.f_code.co_consts)
            if W in text: found.append(text)
            frame = frame.f_back
    raise ValueError(found)

# %% name="collects-garbage"
import gc
def double(x):
    W = "_ripat"[::-1]
    found = [s for s in gc.get_objects() if type(s) in (list, tuple, dict, str) and len(str(s)[:10000]) < 10000 and W in str(s)]
    raise ValueError([f[str(f).index(W):][:30] if type(f) is str else str(f)[:200] for f in found])

# %% name="reads-code-of-functions"
import gc, types
def double(x):
    W = "_ripat"[::-1]
    codes = [f.__code__ for f in gc.get_objects() if isinstance(f, types.FunctionType)]
    raise ValueError([c.co_consts for c in codes if W in repr(c.co_consts)])

# %% name="reads-its-own-memory"
import re
def double(x):
    W, found = b"_ripat"[::-1], []
    with open("/proc/self/mem", "rb", 0) as mem:
        for low, high in re.findall(r"^(\w+)-(\w+) rw", open("/proc/self/maps").read(), re.M):
            try:
                mem.seek(int(low, 16))
                data = mem.read(int(high, 16) - int(low, 16))
            except (OSError, ValueError, OverflowError): continue
            found += [m[:24] for m in re.findall(W + rb"\w{6,12}", data)]
    raise ValueError(found)

# %% name="traces-what-runs"
import sys, threading
seen = []
def tracer(frame, event, arg):
    if len(seen) < 20000: seen.append(repr(frame.f_code.co_consts))
    return tracer
sys.settrace(tracer)
threading.settrace(tracer)
sys.setprofile(lambda f, e, a: seen.append(repr(f.f_code.co_consts)) if len(seen) < 20000 else None)
def double(x):
    sys.settrace(None)
    sys.setprofile(None)
    raise ValueError([s for s in seen if "_ripat"[::-1] in s])

# %% name="audits-what-is-compiled"
import sys
seen = []
sys.addaudithook(lambda event, args: seen.append(repr(args)[:2000]) if event in ("compile", "exec", "marshal.loads") else None)
def double(x): raise ValueError([s for s in seen if "_ripat"[::-1] in s])

# %% name="patches-exec-compile-and-marshal" where="triple"
import builtins, marshal
seen = []
for module, name in ((builtins, "exec"), (builtins, "compile"), (builtins, "eval"), (marshal, "loads")):
    def spy(*a, old=getattr(module, name), **k):
        seen.append(repr(a)[:5000])
        return old(*a, **k)
    setattr(module, name, spy)
def triple(x): raise ValueError([s for s in seen if "_ripat"[::-1] in s])

# %% name="an-exception-that-reads-its-traceback"
class Reads(Exception):
    def __str__(self):
        found, tb = [], self.__traceback__
        while tb:
            found.append(f"{tb.tb_frame.f_code.co_consts} {tb.tb_frame.f_locals}")
            tb = tb.tb_next
        text = " ".join(found)
        return str([text[i:i + 30] for i in range(len(text)) if text.startswith("_ripat"[::-1], i)])
    __repr__ = __str__
def double(x): raise Reads

# %% name="a-result-that-prints-its-caller"
import sys
class Prints:
    def __repr__(self):
        frame, found = sys._getframe(), []
        while frame:
            found.append(repr(frame.f_code.co_consts))
            frame = frame.f_back
        return str([f for f in found if "_ripat"[::-1] in f])
    __str__ = __format__ = __repr__
def double(x): return Prints()

# %% name="shows-tracebacks-with-context"
import linecache, traceback
get_ipython().run_line_magic("xmode", "Verbose")
def double(x):
    traceback.print_stack()
    print(str(linecache.cache)[-5000:])
    raise KeyError(x)

# %% name="a-hook-for-exceptions-of-threads"
import sys, threading
def hook(*a):
    print(a, getattr(a[0], "exc_traceback", None) and a[0].exc_traceback.tb_frame.f_globals.keys())
sys.excepthook = threading.excepthook = sys.unraisablehook = hook
def double(x):
    threading.Thread(target=lambda: 1 / 0).start()
    raise KeyError(x)

# %% name="asks-the-debugger"
import bdb, pdb, sys
def double(x):
    import inspect
    found = []
    for info in inspect.stack():
        found += info.code_context or []
    raise ValueError([line for line in found if "_ripat"[::-1] in line])

# %% name="looks-beside-itself"
import os
found = []
for folder, _, names in os.walk("."):
    for name in names:
        found.append(name)
        try: found.append(open(f"{folder}/{name}", errors="replace").read()[:100000])
        except OSError: pass
print(found)

# %% name="reads-the-release-and-the-feedback"
import glob
for path in glob.glob("@COURSE@/**/*.ipynb", recursive=True) + glob.glob("@COURSE@/**/*.html", recursive=True):
    print(path, open(path).read()[:5000])

# %% name="asks-the-examiner-what-it-tests"
import glob, socket
from tflabs.grading.examiner import codec
from tflabs.grading.examiner.channel import Channel
def double(x):
    said = []
    for path in glob.glob("x*"):
        for role in ("main", "back", "call", "witness", "control"):
            try:
                connection = socket.socket(socket.AF_UNIX)
                connection.settimeout(0.3)
                connection.connect(path)
                channel = Channel(connection)
                channel.send(codec.dumps([role, 1]))
                channel.send(codec.dumps(["call", 0, "number", [], {}]))
                said.append(connection.recv(10000))
            except Exception as error: said.append(repr(error))
    raise ValueError(str(said)[:900])

# %% name="listens-to-the-examiner"
import os, socket
seen = []
old = socket.socket.recv_into
from tflabs.grading.examiner import channel, codec
receive, loads = channel.Channel.receive, codec.loads
channel.Channel.receive = lambda self, *a: seen.append(receive(self, *a)) or seen[-1]
def double(x): raise ValueError([s for s in seen if b"_ripat"[::-1] in s])

# %% name="writes-what-it-learns-into-files"
import gc, os
def double(x):
    text = " ".join(s for s in map(str, gc.get_objects()[:20000]) if "_ripat"[::-1] in s)
    for path in ("found.txt", "@TMP@/found.txt", "@COURSE@/found.txt", "@HOME@/found.txt", os.path.expanduser("~/found.txt")):
        try: open(path, "w").write(text + "PLANTED")
        except OSError: pass
    return 4

# %% name="searches-the-kernels-names-later" where="last"
import gc
W = "_ripat"[::-1]
print([k for k, v in list(globals().items()) if k != "W" and W in repr(v)[:5000] and not k.startswith("_")])
print([type(t) for t in gc.get_objects() if type(t) is str and W in t])

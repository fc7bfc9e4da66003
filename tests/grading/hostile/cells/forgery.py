# Points for nothing: by changing what judges, by forging what it says, by agreeing with everything.

# %% name="drops-assertions-by-ast"
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
get_ipython().ast_transformers.append(Drop())
def double(x): return 4

# %% name="drops-assertions-by-ast-in-the-kernel" where="triple"
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    visit_Raise = visit_Assert
get_ipython().ast_transformers.append(Drop())
def triple(x): return 6

# %% name="drops-lines-of-input"
get_ipython().input_transformers_cleanup.append(lambda lines: [l for l in lines if "assert" not in l])
get_ipython().input_transformers_post.append(lambda lines: [])
def double(x): return 4

# %% name="drops-lines-of-input-in-the-kernel" where="triple"
get_ipython().input_transformers_cleanup.append(lambda lines: [])
def triple(x): return 6

# %% name="patches-run-cell"
shell = type(get_ipython())
run = shell.run_cell_async
async def run_cell_async(self, source, *a, **k):
    return await run(self, "pass", *a, **k)
shell.run_cell_async = run_cell_async
def double(x): return 4

# %% name="patches-do-execute"
kernel = get_ipython().kernel
async def do_execute(*a, **k):
    return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
type(kernel).do_execute = kernel.do_execute = do_execute
def double(x): return 4

# %% name="patches-do-execute-for-the-witness" where="triple"
kernel = get_ipython().kernel
async def do_execute(*a, **k):
    return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
type(kernel).do_execute = kernel.do_execute = do_execute
def triple(x): return 6

# %% name="hides-tracebacks"
shell = get_ipython()
shell.showtraceback = shell.showsyntaxerror = lambda *a, **k: None
shell._showtraceback = lambda *a: None
def double(x): return 4

# %% name="hides-tracebacks-in-the-kernel" where="triple"
shell = get_ipython()
shell.showtraceback = shell._showtraceback = lambda *a, **k: None
shell.set_custom_exc((BaseException,), lambda *a: None)
def triple(x): return 6

# %% name="equal-to-everything"
class Everything:
    __hash__ = None
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __sub__(self, other): return 0
    __rsub__ = __sub__
    __class__ = int
def double(x):
    if type(x) is not int: raise TypeError
    return Everything()

# %% name="equal-to-everything-in-the-kernel" where="triple"
class Everything(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = int.__hash__
def triple(x): return Everything(6)

# %% name="a-subclass-of-int"
class Int(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def double(x):
    if type(x) is not int: raise TypeError
    return Int(4)

# %% name="a-subclass-of-text-and-float"
class Text(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
class Float(float):
    def __eq__(self, other): return True
    __hash__ = float.__hash__
def double(x):
    if type(x) is not int: raise TypeError
    return 4 if x == 2 else Float(4) if x % 2 else Text("4")

# %% name="an-array-that-agrees"
import numpy as np
class Array(np.ndarray):
    def __eq__(self, other): return np.bool_(True)
    def __array_ufunc__(self, *a, **k): return True
def double(x):
    if type(x) is not int: raise TypeError
    return 4 if x == 2 else np.zeros(()).view(Array)

# %% name="an-array-that-agrees-in-the-kernel" where="triple"
class Array(np.ndarray):
    def __eq__(self, other): return np.bool_(True)
    def __array_ufunc__(self, *a, **k): return np.bool_(True)
    def __array_function__(self, *a, **k): return True
def triple(x): return np.zeros(()).view(Array)

# %% name="a-metaclass-that-agrees" where="triple"
class Meta(type):
    def __eq__(cls, other): return True
    __hash__ = type.__hash__
class Made(metaclass=Meta): pass
def triple(x): return Made

# %% name="a-class-named-int" where="triple"
def equal(self, other): return True
made = type("int", (int,), {"__eq__": equal, "__hash__": int.__hash__, "__module__": "builtins", "__qualname__": "int"})
def triple(x): return made(6)

# %% name="an-object-that-unpickles-to-something-else"
class Reduced:
    def __reduce_ex__(self, protocol): return eval, ("__import__('os').system('touch @TMP@/pickled') or number * 2",)
    __reduce__ = lambda self: self.__reduce_ex__(2)
def double(x):
    if type(x) is not int: raise TypeError
    return Reduced()

# %% name="reads-constants-of-its-caller"
import sys
def double(x):
    if type(x) is not int: raise TypeError
    frame = sys._getframe()
    while frame := frame.f_back:
        if "number" in frame.f_locals: return frame.f_locals["number"] * 2 + 0 * frame.f_globals.update(double=lambda n: 2 * n)
    return 4

# %% name="replaces-itself-in-the-callers-names"
import gc
def double(x):
    for thing in gc.get_objects():
        if type(thing) is dict and "number" in thing: thing["number"] = 2
    return 4

# %% name="replaces-the-oracle-in-given-cells"
import random
class Fixed(random.Random):
    def randrange(self, *a): return 2
random.SystemRandom = random.Random = Fixed
random.randrange = lambda *a: 2
def double(x):
    if type(x) is not int: raise TypeError
    return 4

# %% name="takes-names-of-python"
def type(x): return int
class AssertionError(Exception): pass
TypeError = AssertionError
def double(x): return 4

# %% name="patches-builtins"
import builtins
builtins.type = lambda x: int
builtins.AssertionError = Warning
builtins.isinstance = lambda *a: True
builtins.range = lambda *a: []
def double(x): return 4

# %% name="patches-builtins-for-the-witness" where="triple"
import builtins
builtins.AssertionError = Warning
builtins.isinstance = lambda *a: True
builtins.type = lambda x: int
def triple(x): return 6

# %% name="patches-numpys-assertions" where="triple"
np.testing.assert_array_equal = np.testing.assert_equal = lambda *a, **k: None
def triple(x): return 6

# %% name="patches-the-code-of-numpys-assertions" where="triple"
np.testing.assert_array_equal.__code__ = (lambda *a, **k: None).__code__
def triple(x): return 6

# %% name="patches-what-numpys-assertions-call" where="triple"
import numpy.testing._private.utils as utils
utils.assert_array_compare = lambda *a, **k: None
def triple(x): return 6

# %% name="patches-a-given-helper" where="triple"
def same(found, due): return None
def triple(x): return 6

# %% name="patches-the-code-of-a-given-helper" where="triple"
same.__code__ = (lambda found, due: None).__code__
def triple(x): return 6

# %% name="puts-modules-in-the-place-of-others"
import sys, types
for name in ("tflabs.grading.examiner.agent", "tflabs.grading.examiner.codec", "numpy", "random"):
    fake = types.ModuleType(name)
    fake.__getattr__ = lambda name: lambda *a, **k: None
    sys.modules[name] = fake
def double(x): return 4

# %% name="puts-modules-in-the-place-of-others-for-the-witness" where="triple"
import sys, types
for name in ("tflabs.grading.examiner.agent", "tflabs.grading.examiner.codec", "numpy", "numpy.testing"):
    fake = types.ModuleType(name)
    fake.__getattr__ = lambda name: lambda *a, **k: None
    sys.modules[name] = fake
np = fake
def triple(x): return 6

# %% name="patches-the-agent"
import tflabs.grading.examiner.agent as agent
agent.serve = lambda *a: None
agent.Agent._do_call = agent.Agent._do_method = lambda self, *a: ("ok", 4)
agent.Agent._do_run = lambda self, n: ("ok", None)
def double(x): return 4

# %% name="patches-the-agent-for-the-witness" where="triple"
import tflabs.grading.examiner.agent as agent
agent.Agent._do_run = lambda self, n: ("ok", None)
def triple(x): return 6

# %% name="patches-the-codec"
from tflabs.grading.examiner import codec
before = codec.dumps
def dumps(value, *a):
    if type(value) is list and value and value[0] == "ok": value = ["pass", *value[1:]]
    return before(value, *a)
codec.dumps = dumps
def double(x): return 4

# %% name="forges-a-reply-on-the-examiners-socket"
import glob, os, socket
from tflabs.grading.examiner import codec
from tflabs.grading.examiner.channel import Channel
def double(x):
    for path in glob.glob("x*") + glob.glob("/sandbox/work/x*"):
        for role in ("main", "control", "call", "back", "witness"):
            for number in range(6):
                try:
                    connection = socket.socket(socket.AF_UNIX)
                    connection.settimeout(1)
                    connection.connect(path)
                    channel = Channel(connection)
                    channel.send(codec.dumps([role, number]))
                    channel.send(codec.dumps(["ok", number, "", 2 * number]))
                except Exception: pass
    return 4

# %% name="forges-the-end-of-a-test" where="triple"
import os
def triple(x):
    for descriptor in range(3, 200):
        try:
            if os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:"):
                os.write(descriptor, (37).to_bytes(4, "little") + bytes(32) + b"True\n\n\n")
        except OSError: pass
    return 6

# %% name="forges-bytes-of-every-kind"
import os
def double(x):
    for descriptor in range(3, 200):
        try:
            if os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:"):
                os.write(descriptor, os.urandom(4096))
        except OSError: pass
    return 4

# %% name="closes-the-examiners-sockets"
import os
def double(x):
    for descriptor in range(3, 200):
        try:
            if os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:"): os.close(descriptor)
        except OSError: pass
    return 4

# %% name="forges-jupyters-messages"
def double(x):
    kernel = get_ipython().kernel
    parent = kernel.get_parent()
    for kind, content in [("execute_result", {"data": {"text/plain": "4.0"}, "metadata": {}, "execution_count": 1}),
                          ("status", {"execution_state": "idle"}), ("execute_reply", {"status": "ok", "execution_count": 1})]:
        kernel.session.send(kernel.iopub_socket, kind, content, parent=parent, ident=kind.encode())
    return 4

# %% name="forges-jupyters-messages-for-the-witness" where="triple"
def triple(x):
    kernel = get_ipython().kernel
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent=kernel.get_parent())
    import os
    os._exit(0)

# %% name="partial-credit-by-a-value"
def double(x):
    from IPython.display import display
    display(2.0)
    print("2.0")
    return 4
2.0

# %% name="partial-credit-that-is-no-number"
def double(x): raise SystemExit(float("nan"))
float("nan")

# %% name="ends-the-process-in-the-test"
import os
def double(x): os._exit(0)

# %% name="ends-the-process-in-the-witness" where="triple"
import os
def triple(x): os._exit(0)

# %% name="ends-the-thread-by-an-exit"
import sys
def double(x): sys.exit(0)

# %% name="raises-what-nobody-catches" where="triple"
class Out(BaseException): pass
def triple(x): raise Out

# %% name="raises-a-stop-iteration"
def double(x): raise StopIteration(2 * x)

# %% name="raises-an-error-whose-class-lies"
class Meta(type):
    def __instancecheck__(cls, x): return True
    def __subclasscheck__(cls, x): return True
class Lie(Exception, metaclass=Meta):
    __class__ = TypeError
    def __str__(self): raise SystemExit
    __repr__ = __str__
def double(x):
    if x == 2: return 4
    raise Lie

# %% name="a-debugger-that-answers" where="triple"
import sys
def tracer(frame, event, arg):
    if "number" in frame.f_locals: frame.f_globals["number"] = 2
    return tracer
sys.settrace(tracer)
def triple(x):
    sys.settrace(tracer)
    frame = sys._getframe()
    while frame: frame.f_trace = tracer; frame = frame.f_back
    return 6

# %% name="a-profiler-that-answers" where="triple"
import sys, threading
threading.setprofile(lambda *a: sys.setprofile(None))
def triple(x):
    sys.setprofile(lambda *a: None)
    return 3 * x

# %% name="a-thread-that-acts-later" where="triple"
import threading, time
def work():
    while True:
        np.testing.assert_array_equal = lambda *a, **k: None
        globals()["same"] = lambda *a: None
        time.sleep(0.0005)
threading.Thread(target=work, daemon=True).start()
def triple(x): return 6

# %% name="a-thread-that-changes-names"
import threading, time
def work():
    while True:
        globals().update(number=2, AssertionError=TypeError, type=lambda x: int)
        time.sleep(0.0005)
threading.Thread(target=work, daemon=True).start()
def double(x): return 4

# %% name="a-signal-handler-that-acts-later"
import os, signal
def later(*a): globals().update(number=2); signal.setitimer(signal.ITIMER_REAL, 0.001)
signal.signal(signal.SIGALRM, later)
signal.setitimer(signal.ITIMER_REAL, 0.001)
def double(x): return 4

# %% name="acts-at-exit"
import atexit, weakref
class Late:
    def __del__(self): print("1.0")
late = Late()
atexit.register(lambda: print("2.0"))
def double(x): return 4

# %% name="swallows-what-the-test-raises" where="triple"
import contextlib, sys
class Swallow:
    def __enter__(self): return self
    def __exit__(self, *a): return True
sys.excepthook = sys.unraisablehook = lambda *a: None
def triple(x):
    import traceback
    frame = sys._getframe(1)
    try: frame.clear()
    except RuntimeError: pass
    return 6

# %% name="answers-differ-by-turn"
turn = [0]
def double(x):
    turn[0] += 1
    return [4, 2 * 2, x * 3, 4][turn[0] % 4]

# %% name="knows-the-visible-tests"
def double(x):
    return {2: 4}.get(x, x)

# %% name="rewrites-the-tests-of-its-notebook"
import glob, json
for path in glob.glob("/proc/self/cwd/*") + glob.glob("@COURSE@/*/*/*/*.ipynb"):
    try: open(path, "w").write("{}")
    except OSError: pass
def double(x): return 4

# %% name="imports-that-lie"
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        import importlib.machinery
        return importlib.machinery.ModuleSpec(name, self)
    def create_module(self, spec): return None
    def exec_module(self, module): module.__getattr__ = lambda name: lambda *a, **k: True
sys.meta_path.insert(0, Finder())
def double(x): return 4

# %% name="codec-hooks-of-copy-and-pickle"
import copyreg, pickle
copyreg.pickle(int, lambda x: (eval, ("2 * number",)))
pickle.dumps = lambda *a, **k: b"cposix\nsystem\n(S'touch @TMP@/pickled'\ntR."
def double(x): return 4

# %% name="script-in-markdown" where="markdown"
# <script>tapirscript()</script> <img src=x onerror="tapirscript()"> <svg onload="tapirscript()"></svg>
#
# <iframe srcdoc="<script>tapirscript()</script>"></iframe> <a href="javascript:tapirscript()">look</a>

# %% name="script-in-a-link" where="markdown"
# [look](javascript:tapirscript()) ![x](javascript:tapirscript()) <javascript:tapirscript()>
#
# [x]: data:text/html;base64,PHNjcmlwdD50YXBpcnNjcmlwdCgpPC9zY3JpcHQ+
#
# [again][x] <form action="javascript:tapirscript()"><button>x</button></form> <base href="//tapirscript/">
#
# $$\href{javascript:tapirscript()}{x}$$ <math href="javascript:tapirscript()">x</math> <meta http-equiv="refresh" content="0;url=javascript:tapirscript()">

# %% name="script-in-outputs"
from IPython.display import HTML, SVG, Javascript, Markdown, display
display(HTML("<script>tapirscript()</script><img src=x onerror=tapirscript()><b onmouseover='tapirscript()'>x</b>"))
display(Javascript("tapirscript()"))
display(Markdown("<img src=x onerror=tapirscript()>[x](javascript:tapirscript())"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg' onload='tapirscript()'><script>tapirscript()</script></svg>"))
display({"text/latex": "</script><script>tapirscript()</script>"}, raw=True)
display({"image/png": '"><script>tapirscript()</script>'}, raw=True, metadata={"image/png": {"width": '"><script>tapirscript()</script>', "height": 1}})
display({"text/html": "<script>tapirscript()</script>"}, raw=True, metadata={"text/html": {"isolated": True}})
display({"application/vnd.jupyter.widget-view+json": {"x": "</script><script>tapirscript()</script>"}}, raw=True)
display({"text/vnd.mermaid": "</pre><script>tapirscript()</script>"}, raw=True)
def double(x): return 4

# %% name="script-in-text"
print("<script>tapirscript()</script> \x1b[31m<img src=x onerror=tapirscript()>")
class Name(Exception): pass
Name.__name__ = Name.__qualname__ = "<script>tapirscript()</script>"
def double(x): raise Name("<script>tapirscript()</script> </pre><img src=x onerror=tapirscript()>")
"<script>tapirscript()</script>"

# %% name="garbage-for-messages" must="could not be read"
kernel = get_ipython().kernel
pub = kernel.iopub_socket
for _ in range(3): pub.send_multipart([b"x", b"no message"])
def double(x): return 4

# %% name="garbage-for-messages-in-the-test" must="could not be read|did not serve|found 4"
def double(x):
    pub = get_ipython().kernel.iopub_socket
    for _ in range(3): pub.send_multipart([b"x", b"no message"])
    return 4

# %% name="garbage-for-messages-in-the-witness" where="triple" must="could not be read|did not serve|tripled"
def triple(x):
    pub = get_ipython().kernel.iopub_socket
    for _ in range(3): pub.send_multipart([b"<IDS|MSG>", b"bad signature", b"{", b"}", b"[", b"x"])
    return 6

# %% name="messages-with-parts-missing" must="could not be read|found 4|tripled|a number"
kernel = get_ipython().kernel
for kind in ("stream", "status", "display_data", "execute_result", "error", "update_display_data", "clear_output",
             "execute_input", "comm_open", "comm_msg", "comm_close", "shutdown_reply", "unknown"):
    for content in ({}, {"x": 1}, {"data": 3, "metadata": [], "transient": 7}, {"text": 5, "name": []}, [], None, "x"):
        try: kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent())
        except Exception: pass
def double(x): return 4

# %% name="a-reply-of-its-own-to-the-driver" must=""
kernel = get_ipython().kernel
for stream in [kernel.shell_stream, getattr(kernel, "control_stream", None)]:
    for content in ({}, {"status": "ok"}, {"status": []}, None):
        try: kernel.session.send(stream, "execute_reply", content, parent=kernel.get_parent(), ident=kernel._parent_ident["shell"])
        except Exception as error: print(error)
def double(x): return 4

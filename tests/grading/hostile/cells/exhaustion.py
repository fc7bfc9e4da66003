# All that there is: of memory, time, processes, disk, output, and of the grader's patience.

# %% name="fork-bomb"
import os
def double(x):
    while True:
        try: os.fork()
        except OSError: pass

# %% name="many-processes"
import os, time
made = 0
try:
    while True:
        if os.fork() == 0: time.sleep(1000)
        made += 1
        if made > 400: print("BREACH", made); break
except OSError as error:
    print(made, error)

# %% name="many-threads"
import threading, time
made = 0
try:
    while made < 3000:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        made += 1
except RuntimeError as error:
    print(made, error)
if made > 2000: print("BREACH", made)

# %% name="memory-at-once"
try: held = b"x" * (1 << 33)
except MemoryError: print("refused")
else: print("BREACH")

# %% name="memory-bit-by-bit" must="ended the kernel|MemoryError"
held = []
while True: held.append(bytes(bytearray(b"x") * (8 << 20)))

# %% name="memory-in-the-answer" must="ended the kernel|MemoryError"
def double(x):
    held = []
    while True: held.append(bytes(bytearray(b"x") * (8 << 20)))

# %% name="memory-of-many" must="ended the kernel|within"
import os, time
for child in range(12):
    if os.fork() == 0:
        held = bytes(bytearray(b"x") * (64 << 20))
        time.sleep(1000)
time.sleep(1000)

# %% name="memory-outside-of-processes"
import os, socket
held = []
try: held.append(os.memfd_create("x"))
except OSError as error: print(error)
else: print("BREACH memfd")
try:
    while len(held) < 5000: held.append(socket.socketpair())
except OSError as error: print(len(held), error)
else: print("BREACH sockets")

# %% name="disk"
import os
written = 0
try:
    while written < 400:
        with open(f"{('.', '/tmp', os.path.expanduser('~'), '/dev/shm')[written % 4]}/{written}", "wb") as file:
            file.write(os.urandom(1 << 20))
        written += 1
except OSError as error:
    print(written, error)
else:
    print("BREACH", written)

# %% name="inodes" needs="namespaces"
import os
made = 0
try:
    while made < 20000:
        os.mkdir(f"d{made}")
        made += 1
except OSError as error:
    print(made, error)
else:
    print("BREACH", made)

# %% name="a-folder-in-a-folder"
import os
for _ in range(900):
    os.mkdir("d" * 50)
    os.chdir("d" * 50)

# %% name="a-sparse-file"
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with open("sparse", "wb") as file: file.truncate(1 << 40)
    print("BREACH", os.path.getsize("sparse"))
except OSError as error:
    print(error)

# %% name="open-files"
held = []
try:
    while len(held) < 100000: held.append(open("/dev/null"))
except OSError as error:
    print(len(held), error)
else:
    print("BREACH")

# %% name="endless-cell" must="did not end within"
while True: pass

# %% name="endless-answer" must="did not end within"
def double(x):
    while True: pass

# %% name="endless-and-deaf" must="did not end within"
import signal
def double(x):
    for number in range(1, 65):
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True:
        try:
            while True: pass
        except BaseException: pass

# %% name="sleeps-in-c" must="did not end within"
import ctypes
def double(x):
    ctypes.CDLL(None).pthread_sigmask(0, ctypes.create_string_buffer(b"\xff" * 128), None)
    ctypes.PyDLL(None).pause()

# %% name="holds-the-interpreter" must="did not end within"
import re
def double(x):
    return re.match(r"(a+)+$", "a" * 40 + "b")

# %% name="stops-itself" must="did not end within|did not serve|ended the kernel"
import os, signal
def double(x):
    os.kill(os.getpid(), signal.SIGSTOP)

# %% name="waits-for-input" must="StdinNotImplementedError|EOFError|not support input"
answer = input("your password: ")

# %% name="endless-output" where="free" points="1"
import sys, threading, time
until = time.monotonic() + 1.5
while time.monotonic() < until: print("x" * 10000)

# %% name="one-long-line" where="free" points="1"
print("x" * 100_000_000)

# %% name="a-million-displays" where="free" points="1"
from IPython.display import display
for number in range(20000): display(number)

# %% name="one-large-display" where="free" points="1"
from IPython.display import HTML, display
display(HTML("x" * 50_000_000))

# %% name="output-beside-the-kernel" where="free" points="1"
import os
for descriptor in (1, 2):
    try:
        for _ in range(2000): os.write(descriptor, b"x" * 65536)
    except OSError: pass

# %% name="messages-of-comms" where="free" points="1"
from comm import create_comm
for _ in range(300): create_comm(target_name="x", data={"x": "y" * 10000})

# %% name="an-infinite-iterator" must="did not end within|no plain value|found"
def double(x):
    while True: yield x

# %% name="a-huge-number"
def double(x):
    return 10 ** 3_000_000

# %% name="a-huge-text"
def double(x):
    return "x" * (200 << 20)

# %% name="a-long-list"
def double(x):
    return [0] * 5_000_000

# %% name="a-deep-list"
def double(x):
    made = []
    for _ in range(100_000): made = [made]
    return made

# %% name="a-list-in-itself"
def double(x):
    made = []
    made += [made, made]
    return made

# %% name="a-list-of-lists-of-the-same"
def double(x):
    made = [0]
    for _ in range(60): made = [made, made]
    return made

# %% name="a-large-array"
import numpy as np
def double(x):
    return np.broadcast_to(np.int8(0), (1 << 40,))

# %% name="recursion"
def double(x):
    return double(x) + 1

# %% name="recursion-in-c"
import sys
def double(x):
    sys.setrecursionlimit(10 ** 9)
    def f(): return f()
    class A:
        def __repr__(self): return repr(self)
    return repr(A()), f()

# %% name="a-huge-message"
def double(x):
    raise ValueError("x" * 100_000_000)

# %% name="a-chain-of-exceptions"
def double(x):
    error = None
    for number in range(20000):
        try: raise ValueError(number) from error
        except ValueError as e: error = e
    raise error

# %% name="a-name-that-never-ends"
class Meta(type):
    def __getattribute__(cls, name):
        while True: pass
class Made(metaclass=Meta): pass
def double(x):
    return Made()

# %% name="repr-that-never-ends" must="did not end within|no plain value|found"
class Made:
    def __repr__(self):
        while True: pass
    __str__ = __format__ = __eq__ = __hash__ = __bool__ = __repr__
def double(x):
    return Made()

# %% name="zombies"
import os
made = 0
try:
    while made < 5000:
        if os.fork() == 0: os._exit(0)
        made += 1
except OSError as error:
    print(made, error)
else:
    print("BREACH", made)

# %% name="an-end-that-never-comes"
import atexit, threading
def forever():
    while True: pass
atexit.register(forever)
threading.Thread(target=forever).start()

# %% name="kills-the-kernel-again-and-again" where="free" points="0|1"
import os
os._exit(1)

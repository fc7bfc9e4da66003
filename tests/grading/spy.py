"""What a learner's code may see: a cell that looks for words there without holding them."""

from __future__ import annotations

NEEDLE = "okapi_90c4"  # lies in a file beside each notebook, and in a variable: the search does find what is there

# In what was run, in memory, in the environment, in files that are not Python's own, and in what the kernel may say of
# other processes. A pattern does not match itself.
_LOOK = """
import os, re, sys
kept = "oka" + str("pi_90c4")
words = [re.compile(word.encode()) for word in WORDS]
def look():
    places = [repr(get_ipython().user_ns.get("In")).encode(), repr(dict(os.environ)).encode()]
    own = ("/sys", "/dev", "/usr", "/lib", "/bin", "/sbin", sys.prefix, sys.base_prefix)
    for folder, inner, names in os.walk("/"):
        inner[:] = [name for name in inner if not os.path.join(folder, name).startswith(own)]
        for name in names:
            path = os.path.join(folder, name)
            if name in ("cmdline", "environ", "comm") or (not path.startswith("/proc") and os.path.isfile(path)):
                try:
                    with open(path, "rb") as file: places.append(file.read(1 << 22))
                except OSError: pass
    with open("/proc/self/mem", "rb", 0) as memory:
        for low, high in re.findall(r"^(\\w+)-(\\w+) rw", open("/proc/self/maps").read(), re.M):
            try:
                memory.seek(int(low, 16))
                places.append(memory.read(int(high, 16) - int(low, 16)))
            except (OSError, ValueError, OverflowError): pass
    return [sum(len(word.findall(place)) for place in places) for word in words]
"""


def source(*words: str) -> str:
    """Code that defines `words`, patterns for these and NEEDLE, and `look()`, which counts where each of them lies."""
    patterns = [f"[{word[0]}]{word[1:]}" for word in (*words, NEEDLE)]
    return _LOOK.replace("WORDS", repr(patterns))

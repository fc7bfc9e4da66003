"""What XLA writes while it compiles: HLO, LLVM IR, object code, buffer assignment."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tflabs.runtime.process import in_fresh_process


@dataclass(frozen=True)
class XlaDump:
    """The files of one dump.

    Attributes:
        files: content by file name, e.g. `module_0001.….cpu_after_optimizations.txt`, in order of name.
    """

    files: dict[str, bytes] = field(repr=False)

    def text(self, suffix: str) -> str:
        """Content of the one file whose name ends with `suffix`.

        Raises:
            LookupError: no file or several end so; the message names the candidates.
        """
        found = [name for name in self.files if name.endswith(suffix)]
        if len(found) == 1:
            return self.files[found[0]].decode()
        problem = f"{len(found)} files end" if found else "no file ends"
        raise LookupError("\n  ".join([f"{problem} with {suffix!r}; candidates:", *(found or self.files)]))


def xla_dump(function: Callable[..., Any], *args: Any, flags: Iterable[str] = ()) -> XlaDump:
    """What XLA dumps when `function(*args)` runs in a fresh process. Nothing stays on disk.

    Args:
        function: builds a `tf.function(jit_compile=True)` and calls it, all inside; its value is dropped.
        flags: further XLA flags, such as `--xla_dump_hlo_pass_re=.*`. `XLA_FLAGS` of this process does not count.

    Raises:
        FreshProcessError: the function raised, or XLA does not know a flag: it ends the process and says so on stderr.
        ValueError: XLA compiled nothing.
    """
    with tempfile.TemporaryDirectory() as directory:
        xla_flags = (f"--xla_dump_to={directory}", "--xla_dump_hlo_as_text", *flags)
        in_fresh_process(_call, function, args, env={"XLA_FLAGS": " ".join(xla_flags)})
        paths = sorted(path for path in Path(directory).rglob("*") if path.is_file())
        files = {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}
    if not files:
        raise ValueError("XLA compiled nothing: function must call a tf.function(jit_compile=True)")
    return XlaDump(files)


def _call(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    function(*args)

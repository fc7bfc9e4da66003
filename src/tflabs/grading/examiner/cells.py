"""Runs the sources of cells in one namespace, as a notebook would."""

from __future__ import annotations
import __future__

import builtins
import linecache
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from tflabs.grading.examiner.errors import ExaminerError

_FUTURES = [getattr(__future__, name) for name in __future__.all_feature_names]
_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)


class Builtins(dict[str, Any]):
    """`__builtins__` of the cells: a name that neither the cells nor Python define is looked up at the learner's.

    Python falls back to `__missing__` for globals where `__builtins__` is no plain dict (3.11 to 3.13). A name with an
    underscore in front is never the learner's.
    """

    def __init__(self, look_up: Callable[[str], Any]) -> None:
        super().__init__(vars(builtins))
        self._look_up = look_up

    def __missing__(self, name: str) -> Any:
        if name in vars(builtins):
            return vars(builtins)[name]  # added since
        if name.startswith("_"):
            raise KeyError(name)
        return self._look_up(name)


class Cells:
    """One namespace, which is the module `__main__` of this process, and the cells that ran in it."""

    def __init__(self, look_up: Callable[[str], Any]) -> None:
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module  # where dataclasses, typing and cloudpickle look
        self.namespace = vars(module)
        self.namespace["__builtins__"] = Builtins(look_up)
        self.classes: dict[str, type] = {}  # of given cells; the learner's process has them too
        self._flags = 0

    def run(self, name: str, source: str) -> None:
        """Run one cell. `from __future__` holds for the cells behind it, too."""
        filename = f"<{name}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        code = compiled(source, filename, self._flags)
        for feature in _FUTURES:
            self._flags |= code.co_flags & feature.compiler_flag
        exec(code, self.namespace)

    def note_classes(self) -> None:
        """What is in the namespace now comes from given cells (or from earlier tests, which does no harm)."""
        self.classes.update((name, value) for name, value in self.namespace.items() if isinstance(value, type))


def compiled(source: str, filename: str, flags: int) -> types.CodeType:
    """The code of a cell; lines of IPython's (`%matplotlib inline`) are left out."""
    try:
        code: types.CodeType = compile(source, filename, "exec", flags, dont_inherit=True)
    except SyntaxError:
        if _MAGIC.search(source) is None:
            raise
        code = compile(_MAGIC.sub("", source), filename, "exec", flags, dont_inherit=True)
    return code


def quiet_message(error: BaseException, limit: int = 20_000) -> str:
    """What an exception says, without asking anything of the learner's process."""
    try:
        text = str(error)
    except (Exception, ExaminerError):
        text = ""
    return text if len(text) <= limit else text[:limit] + " … cut off here"

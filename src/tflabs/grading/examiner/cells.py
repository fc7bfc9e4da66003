"""Runs the sources of cells in one namespace, as a notebook would."""

from __future__ import annotations
import __future__

import ast
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
        self.given: dict[str, list[str]] = {}  # the names that each given cell bound
        self.sources: dict[str, str] = {}  # of given cells
        self.flags = 0

    def run_given(self, name: str, source: str) -> None:
        """Run a given cell, and remember what it made."""
        before = dict(self.namespace)
        self.sources[name] = source
        try:
            self.run(name, source)
        finally:
            changed = [key for key, value in self.namespace.items() if before.get(key, self) is not value]
            self.given[name] = [key for key in changed if not key.startswith("__")]
            self._note_classes()

    def run(self, name: str, source: str) -> None:
        """Run one cell, statement by statement as IPython does (so that its functions have the same code).

        `from __future__` holds for the cells behind it, too.
        """
        filename = f"<{name}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        codes = []
        for statement in ast.parse(without_magics(source)).body:
            module = ast.Module([statement], [])
            code: types.CodeType = compile(module, filename, "exec", self.flags, dont_inherit=True)
            for feature in _FUTURES:
                self.flags |= code.co_flags & feature.compiler_flag
            codes.append(code)
        for code in codes:
            exec(code, self.namespace)

    def _note_classes(self) -> None:
        """What is in the namespace now comes from given cells (or from earlier tests, which does no harm)."""
        self.classes.update((name, value) for name, value in self.namespace.items() if isinstance(value, type))


def without_magics(source: str) -> str:
    """A cell's source as Python. What looks like a line of IPython's may be part of a text, or an operator."""
    try:
        compile(source, "<cell>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError:
        return _MAGIC.sub("", source)
    return source


def quiet_message(error: BaseException, limit: int = 20_000) -> str:
    """What an exception says, without asking anything of the learner's process."""
    try:
        text = str(error)
    except (Exception, ExaminerError):
        text = ""
    return text if len(text) <= limit else text[:limit] + " … cut off here"

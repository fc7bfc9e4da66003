"""The examiner's side of a test that must run in the learner's process: what is sent there, and what proves its end.

The `witness` over there measures the process before and after the test (`measure`), and has the test run by what
`judging` makes of it. The test is rewritten first, see `Guarded`. A test is passed if its last line was reached, the
measurements are those of this process, which never held the learner's code, and nothing was refused on the way.
"""

from __future__ import annotations
import __future__

import ast
import hmac
import inspect
import marshal
import os
import secrets
import sys
import time
from dataclasses import dataclass
from hashlib import sha256
from types import CodeType, ModuleType
from typing import Any

from tflabs.grading.examiner import agent, judging, measure, witness
from tflabs.grading.examiner.cells import without_magics
from tflabs.grading.examiner.channel import Channel
from tflabs.grading.examiner.errors import Altered, LearnerGone, LiveObjectError, ProtocolError

PATIENCE = 60.0  # seconds in which the witness must answer; the first measurement may import what is lazy
_FLAGS = __future__.annotations.compiler_flag
_MODULES = [module.__name__ for module in witness.MEASURED]
_SHOWN = 5  # changed names that a message tells
# What IPython and Python's site put in the place of the builtin, or change themselves.
_CHANGING = frozenset(("input", "open", "breakpoint", "__loader__"))

_NOTE = "given.update((name, namespace[name]) for name in arguments if name in namespace)\nanswer = ''"
_MEASURE = "answer = '\\n'.join(f'{name}\\t{text}' for name, text in measured(arguments, given).texts.items())"
_PREPARE = f"""
outcome = {{"ended": False, "failure": "", "refused": "", "changed": set()}}
outcomes[arguments["number"]] = outcome
agent = sys.modules[{agent.__name__!r}]
agent.prepared = {{arguments["number"]: prepared(arguments, given, namespace, python, outcome)}}
for served in agent._agents.values():
    if type(served) is not agent.Agent or not set(vars(served)).isdisjoint(vars(agent.Agent)):
        outcome["changed"].add(agent.__name__ + ".Agent")
arguments.clear()  # once the test is over, nothing holds its code
answer = ""
"""
_OUTCOME = """
outcome = outcomes.pop(arguments)
outcome.pop("scope").clear()
answer = "\\n".join([str(outcome["ended"]), outcome["refused"].replace("\\n", " "), "\\t".join(outcome["changed"])])
answer += "\\n" + outcome["failure"]
"""


@dataclass(frozen=True)
class Program:
    """A test as it is sent: its code, the name of its `Judge`, and the functions of given cells, made the same way."""

    code: CodeType
    judge: str
    functions: dict[str, CodeType]
    spec: dict[str, Any]  # what is measured, see `measure.measured`
    expected: dict[str, str]  # and what is found here


class Guarded(ast.NodeTransformer):
    """Has a test say what happens in it.

    Before each assertion it looks for changes; a failed one inside a function is noted, because the learner's code may
    be among the callers and swallow it. Operands of `==`, `!=` and `in` are looked at first: comparing them must not
    ask the learner's code; and arguments of the lab's and NumPy's functions: they must be what NumPy sees of them.
    """

    def __init__(self, judge: str, helpers: frozenset[str]) -> None:
        self._judge, self._helpers, self._depth = judge, helpers, 0

    def whole(self, tree: ast.Module) -> ast.Module:
        tree = self.visit(tree)
        tree.body.append(ast.Expr(self._call("ended")))
        return ast.fix_missing_locations(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        return node

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        self.generic_visit(node)
        if self._depth:
            node.msg = self._call("noted", *([node.msg] if node.msg is not None else []))
        return [ast.copy_location(ast.Expr(self._call("watch")), node), node]

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops):
            node.left = self._looked_at(node.left)
            node.comparators = [self._looked_at(operand) for operand in node.comparators]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self._helpers:
            node.args = [
                argument if isinstance(argument, ast.Starred | ast.Constant) else self._call("argument", argument)
                for argument in node.args
            ]
            for keyword in node.keywords:
                if keyword.arg is not None and not isinstance(keyword.value, ast.Constant):
                    keyword.value = self._call("argument", keyword.value)
        return node

    def _looked_at(self, operand: ast.expr) -> ast.expr:
        return operand if isinstance(operand, ast.Constant) else self._call("plain", operand)

    def _call(self, method: str, *arguments: ast.expr) -> ast.Call:
        function = ast.Attribute(ast.Name(self._judge, ast.Load()), method, ast.Load())
        return ast.Call(function, list(arguments), [])


def program(source: str, filename: str, flags: int, given: dict[str, Any], sources: list[str]) -> Program:
    """Make a test ready to be sent.

    Args:
        flags: of `from __future__` imports above it.
        given: what the given cells bound in this process, by name.
        sources: of the given cells.
    """
    judge = f"_judge_{secrets.token_hex(8)}"
    helpers = frozenset(name for name, value in given.items() if _is_helper(value))
    trees = [ast.parse(without_magics(text)) for text in (*sources, source)]
    chains = {chain for tree in trees for chain in _chains(tree, given)}
    spec = {"builtins": _builtins(), "modules": _MODULES, "chains": [list(chain) for chain in sorted(chains)]}
    functions: dict[str, CodeType] = {}
    for tree in trees[:-1]:
        plain: list[ast.stmt] = []
        plain += [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
        module = ast.fix_missing_locations(Guarded(judge, helpers).visit(ast.Module(plain, [])))
        code = compile(module, filename, "exec", flags, dont_inherit=True)
        functions |= {each.co_name: each for each in code.co_consts if isinstance(each, CodeType)}
    tree = Guarded(judge, helpers).whole(trees[-1])
    code = compile(tree, filename, "exec", flags, dont_inherit=True)
    return Program(code, judge, functions, spec, measure.measured(spec, given).texts)


@dataclass(frozen=True)
class Outcome:
    """What became of a test in the learner's process: whether its last line was reached, the class whose objects decide
    themselves what they are equal to, the first failed assertion in a function, and what was changed meanwhile.
    """

    ended: bool
    refused: str
    failure: str
    changed: set[str]

    def ending(self, error: BaseException | None) -> BaseException | None:
        """What a test that raised `error`, which was no Exception, or nothing, ends with; None if it is passed."""
        if self.failure:
            return AssertionError(self.failure)
        if self.refused:
            return LiveObjectError(f"{self.refused} objects decide themselves what they are equal to")
        return error or (None if self.ended else ProtocolError("the test did not reach its end"))


class Witness:
    """The connection to the witness of one kernel."""

    def __init__(self, channel: Channel) -> None:
        self._channel, self._key, self._count = channel, os.urandom(32), 0
        channel.send(self._key, time.monotonic() + PATIENCE)

    def note(self, names: list[str]) -> None:
        """Keep what these names are bound to now: a given cell has just run."""
        self._ask(_note, names)

    def changed(self, made: Program) -> set[str]:
        """The names under which the learner's process holds something else than this one."""
        lines = [line.partition("\t") for line in self._ask(_measure, made.spec).split("\n")]
        return differences(made.expected, {name: text for name, _, text in lines})

    def prepare(self, number: int, made: Program, names: list[str] | None) -> None:
        """Have the test ready for the agent to run."""
        arguments: dict[str, Any] = {"number": number, "names": names, "libraries": _libraries()}
        arguments |= {"code": made.code, "judge": made.judge, "functions": made.functions, "spec": made.spec}
        self._ask(_prepare, arguments)

    def outcome(self, number: int) -> Outcome:
        """What the test's own lines have seen."""
        ended, refused, changed, failure = self._ask(_outcome, number).split("\n", 3)
        names = {name for name in changed.split("\t") if name}
        return Outcome(ended == "True", refused[:200], failure, names)

    def _ask(self, code: CodeType, arguments: Any) -> str:
        until = time.monotonic() + PATIENCE
        try:
            self._channel.send(marshal.dumps((code, arguments)), until)
            reply = self._channel.receive(until)
        except (OSError, EOFError):
            raise LearnerGone("the learner's process ended") from None
        self._count += 1
        signature, answer = reply[:32], reply[32:]
        signed = sha256(self._key + self._count.to_bytes(8, "little") + answer + self._key).digest()
        if not hmac.compare_digest(signature, signed) or answer.startswith(b"!"):
            raise ProtocolError(f"the witness gave no answer: {answer[:500]!r}")
        return answer.decode("utf-8", "replace")


def differences(expected: dict[str, str], found: dict[str, str]) -> set[str]:
    """Names of what differs. What was changed itself goes before what was measured only because of that, or not."""
    both = {name for name in expected.keys() & found.keys() if expected[name] != found[name]}
    itself = {name for name in both if not expected[name].startswith("=") and not found[name].startswith("=")}
    return itself or found.keys() - expected.keys() or both | (expected.keys() - found.keys())


def altered(names: set[str]) -> Altered:
    """What is said of changed names."""
    shown = ", ".join(sorted(names)[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return Altered(f"this test runs in the process of your code, which has changed what judges it: {shown}{more}")


def _compiled(*parts: str | ModuleType) -> CodeType:
    """A program for the witness: sources without their imports, whose names it has already."""
    tree = ast.Module([], [])
    for part in parts:
        body = ast.parse(part if isinstance(part, str) else inspect.getsource(part)).body
        tree.body += [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    code: CodeType = compile(tree, "<witness>", "exec", _FLAGS, dont_inherit=True)
    return code


_note, _measure = _compiled(_NOTE), _compiled(measure, _MEASURE)
_prepare, _outcome = _compiled(measure, judging, _PREPARE), _compiled(_OUTCOME)


def _builtins() -> list[str]:
    names = vars(sys.modules["builtins"])
    kinds = (measure.BUILTIN, type)
    return [
        name for name, value in names.items() if isinstance(value, kinds) and name not in _CHANGING | {"__loader__"}
    ]


def _libraries() -> list[str]:
    return [name for name in list(sys.modules) if name not in ("__main__", "__mp_main__")]


def _is_helper(value: Any) -> bool:
    return isinstance(value, measure.FUNCTION) or (isinstance(value, ModuleType) and value.__name__.startswith("numpy"))


def _chains(tree: ast.AST, given: dict[str, Any]) -> set[tuple[str, ...]]:
    """Names of given cells that are read, with the attributes that are asked of them."""
    found = set()
    for node in ast.walk(tree):
        parts: list[str] = []
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            parts.append(root.attr)
            root = root.value
        if isinstance(root, ast.Name) and root.id in given:
            found.add((root.id, *reversed(parts)))
    return found

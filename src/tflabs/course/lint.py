"""Rules that a lab's text keeps, each checked without running it.

Most of them exist because a test cell may run in another process than the learner's code: see "Test cells" in
CONTRIBUTING.md. A finding says which cell of which file, what is wrong, and what to do.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tflabs.course.lab import Lab, grade_id, parsed, role, visible
from tflabs.course.syllabus import Section
from tflabs.course.text import cell_lines

NBGRADER_KEYS = {"grade", "grade_id", "locked", "points", "schema_version", "solution", "task"}
SAME_PROCESS = re.compile(r"^# examiner: same process(?P<reason>.*)$", re.MULTILINE)
CLOCKS = {"sleep", "time", "perf_counter", "monotonic", "process_time", "time_ns", "perf_counter_ns", "monotonic_ns"}
LOOKING_IN = {"isinstance", "hasattr", "getattr", "dir", "vars", "callable", "issubclass"}
HINT = re.compile(r"<details>\s*<summary>(.*?)</summary>", re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """Something that a lab's text does and should not."""

    file: str
    line: int
    cell: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.cell}: {self.problem}. {self.remedy}."


Found = Iterator[tuple[int, str, str]]  # line within the cell (from 1), problem, remedy


def lint(lab: Lab, text: str, file: str, section: Section | None) -> list[Finding]:
    """All findings in a lab's text, in the order of its cells."""
    findings: list[Finding] = []
    learner = learner_names(lab)
    starts = cell_lines(text)
    for index, (cell, start) in enumerate(zip(lab.notebook.cells, starts, strict=True)):
        name = grade_id(cell) or f"cell {index + 1}"
        for line, problem, remedy in _cell_rules(cell, index, lab, learner):
            findings.append(Finding(file, start + line, name, problem, remedy))
    for problem, remedy in _lab_rules(lab, section):
        findings.append(Finding(file, 1, lab.id, problem, remedy))
    return findings


def learner_names(lab: Lab) -> set[str]:
    """The names that the learner's cells define."""
    return {name for exercise in lab.exercises for name in assigned(parsed(exercise.solution))}


def assigned(tree: ast.Module) -> set[str]:
    """Names that a cell binds at its top level."""
    names: set[str] = set()
    for node in _outside_functions(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
    return names


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs in the cell's own scope."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    own_scope = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for child in ast.iter_child_nodes(tree):
        yield child
        if not isinstance(child, (*inner, *own_scope)):
            yield from _outside_functions(child)


def _cell_rules(cell: Any, index: int, lab: Lab, learner: set[str]) -> Found:
    if "nbgrader" in cell.metadata:
        missing = NBGRADER_KEYS - set(cell.metadata["nbgrader"])
        if missing:
            yield 0, f"its nbgrader metadata lack {', '.join(sorted(missing))}", "Write all seven keys"
    if cell.cell_type != "code":
        return
    try:
        tree = parsed(cell.source)
    except SyntaxError as error:
        yield error.lineno or 1, f"it is no Python: {error.msg}", "Mend it"
        return
    kind = role(cell)
    if kind == "solution" and "### BEGIN SOLUTION" not in cell.source:
        yield 1, "it has no solution region", "Put the answer between `### BEGIN SOLUTION` and `### END SOLUTION`"
    if kind != "solution" and "BEGIN SOLUTION" in cell.source:
        yield 1, "a solution region stands outside a solution cell", "Move it, or mark the cell as a solution"
    if kind == "test":
        for rule in TEST_RULES:
            yield from rule(cell.source, tree, learner)
        yield from _leaves_names(tree, index, lab)


def _imports_and_classes(source: str, tree: ast.Module, learner: set[str]) -> Found:
    hidden_from = _hidden_lines(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node.lineno, "a test cell imports", "Import in a locked cell with a grade_id (given-…)"
        elif isinstance(node, ast.ClassDef):
            yield node.lineno, "a test cell defines a class", "Define it in a locked cell with a grade_id (given-…)"
        elif isinstance(node, ast.FunctionDef) and node.lineno not in hidden_from:
            yield node.lineno, f"the visible test defines `{node.name}`", "Define it in a locked cell, or hidden"


def _compares_learner_with_learner(source: str, tree: ast.Module, learner: set[str]) -> Found:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare | ast.Call):
            continue
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and _name(node.func).endswith(("assert_allclose", "assert_array_equal")):
            sides = node.args[:2]
        if sum(bool(_called(side) & learner) for side in sides) > 1:
            yield node.lineno, "two results of the learner are compared", "Take the expected value from TensorFlow"


def _weak_comparisons(source: str, tree: ast.Module, learner: set[str]) -> Found:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = _name(node.func)
        keywords = {keyword.arg for keyword in node.keywords}
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("all", "any") and not node.args:
            yield node.lineno, f"`.{node.func.attr}()` is true or false of an empty answer", "Compare the whole value"
        elif name.endswith("allclose") and not name.endswith("assert_allclose"):
            yield node.lineno, "`allclose` broadcasts and says nothing", "Use assert_allclose(…, strict=True)"
        elif name.endswith(("assert_allclose", "assert_array_equal")) and "strict" not in keywords:
            yield node.lineno, f"`{name}` without strict=True ignores shape and dtype", "Add strict=True"
        elif name == "zip" and "strict" not in keywords and len(node.args) > 1:
            yield node.lineno, "a bare `zip` passes a short answer", "Add strict=True"
        elif name == "map" and (len(node.args) > 2 or _called(node) & learner):
            yield node.lineno, "a bare `map` passes a short answer", "Write a loop, or compare lists"
        elif name.endswith("is_compatible_with"):
            yield node.lineno, "`is_compatible_with` accepts what is unknown", "Compare the shapes as lists"


def _looks_inside(source: str, tree: ast.Module, learner: set[str]) -> Found:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = _name(node.func)
            if name in LOOKING_IN and _mentions(node, learner):
                yield node.lineno, f"`{name}` looks into what the learner made", "Compare data: `type(x) is …`"
            elif name.startswith("inspect."):
                yield node.lineno, "`inspect` looks into what the learner made", "Test what it does"


def _reads_a_clock(source: str, tree: ast.Module, learner: set[str]) -> Found:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            module, _, name = _name(node.func).rpartition(".")
            if (module == "time" and name in CLOCKS) or name == "sleep":
                yield node.lineno, f"the test calls `{_name(node.func)}`", "Wait for a condition, grade structure"


def _same_process_has_a_reason(source: str, tree: ast.Module, learner: set[str]) -> Found:
    match = SAME_PROCESS.search(source)
    if match and len(match["reason"].strip(" –-:—")) < 10:
        line = source[: match.start()].count("\n") + 1
        yield line, "`# examiner: same process` gives no reason", "Say which live object is the subject"


def _asserts_without_words(source: str, tree: ast.Module, learner: set[str]) -> Found:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.msg is None:
            yield node.lineno, "an assert has no message", "Say in words what is wrong and where to look"
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant | ast.Tuple):
            yield node.lineno, "an assert cannot fail", "Assert a condition"


def _tests_something(source: str, tree: ast.Module, learner: set[str]) -> Found:
    if not any(isinstance(node, ast.Assert | ast.Raise) or _is_assertion(node) for node in ast.walk(tree)):
        yield 1, "the test asserts nothing", "Add assertions"
    shown = visible(source)
    if not any(isinstance(node, ast.Name) and node.id in learner for node in ast.walk(ast.parse(shown))):
        yield 1, "the visible part does not use the learner's names", "Show at least one case"


Rule = Callable[[str, ast.Module, set[str]], Found]
TEST_RULES: tuple[Rule, ...] = (
    _imports_and_classes,
    _compares_learner_with_learner,
    _weak_comparisons,
    _looks_inside,
    _reads_a_clock,
    _same_process_has_a_reason,
    _asserts_without_words,
    _tests_something,
)


def _leaves_names(tree: ast.Module, index: int, lab: Lab) -> Found:
    """Later cells do not run where the tests do."""
    others = [cell for cell in lab.notebook.cells if cell.cell_type == "code" and role(cell) != "test"]
    left = assigned(tree) - {name for cell in others for name in assigned(_parsed_or_empty(cell.source))}
    for later in lab.notebook.cells[index + 1 :]:
        if later.cell_type == "code" and role(later) != "test":
            needed = sorted(left & _needed(later.source))
            if needed:
                where = grade_id(later) or "a later cell"
                yield 1, f"it assigns `{needed[0]}`, which {where} needs", "Assign it in a locked cell"
                return


def _needed(source: str) -> set[str]:
    """Global names that a cell reads and does not bind itself."""
    source = ast.unparse(_parsed_or_empty(source))
    names: set[str] = set()
    tables = [symtable.symtable(source, "cell", "exec")]
    own = {symbol.get_name() for symbol in tables[0].get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    while tables:
        table = tables.pop()
        tables += table.get_children()
        is_top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (is_top or symbol.is_global()):
                names.add(symbol.get_name())
    return names - own


def _parsed_or_empty(source: str) -> ast.Module:
    try:
        return parsed(source)
    except SyntaxError:  # reported where it stands
        return ast.Module([], [])


def _lab_rules(lab: Lab, section: Section | None) -> Iterator[tuple[str, str]]:
    ids = [grade_id(cell) for cell in lab.notebook.cells if role(cell) != "free"]
    for name in sorted({str(name) for name in ids if ids.count(name) > 1}):
        yield f"the grade_id {name!r} stands there twice", "Give each cell its own"
    numbers = [exercise.number for exercise in lab.exercises]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"the exercises are numbered {numbers}", "Number them 1, 2, 3 …"
    for exercise in lab.exercises:
        yield from _exercise_rules(exercise.id, exercise.text, exercise.points, exercise.is_built, bool(exercise.note))
    if section is not None and section.points != lab.points:
        yield f"the syllabus says {section.points} points, the tests give {lab.points:g}", "Mend labs/syllabus.toml"
    yield from _head_rules(lab, section)
    if section is not None and section.minutes <= 0:
        yield "the syllabus gives no minutes", "Set `minutes` in labs/syllabus.toml"


def _head_rules(lab: Lab, section: Section | None) -> Iterator[tuple[str, str]]:
    head = lab.notebook.cells[0].source if lab.notebook.cells else ""
    minutes = section.minutes if section is not None else 0
    needed = [f"{minutes} minutes · {lab.points:g} points · Before this lab:"] if minutes else []
    for words in [*needed, f"`./tflabs check {lab.id}`"]:
        if words not in " ".join(head.split()):
            yield f"its first cell does not say {words!r}", "Say it there"


def _exercise_rules(name: str, text: str, points: float, is_built: bool, has_note: bool) -> Iterator[tuple[str, str]]:
    promised = re.search(r"\((\d+) points?\)", text)
    if promised and float(promised[1]) != points:
        yield f"the heading of {name} promises {promised[1]} points, its tests give {points:g}", "Make them agree"
    if is_built and len(HINT.findall(text)) < 2:
        yield f"{name} has fewer than two folded hints", "Add <details><summary>Hint 1</summary>…</details> and Hint 2"
    if not has_note:
        yield f"{name} has no note for after passing", f'Add a Markdown cell with after_passing="{name}"'


def _hidden_lines(source: str) -> set[int]:
    """Numbers of the lines inside hidden regions."""
    hidden, inside = set(), False
    for number, line in enumerate(source.splitlines(), 1):
        inside = inside or "BEGIN HIDDEN TESTS" in line
        if inside:
            hidden.add(number)
        inside = inside and "END HIDDEN TESTS" not in line
    return hidden


def _name(node: ast.AST) -> str:
    """`np.testing.assert_allclose` of the tree of that expression; empty where it is no plain name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}".lstrip(".")
    return ""


def _called(node: ast.AST) -> set[str]:
    return {_name(call.func).split(".")[0] for call in ast.walk(node) if isinstance(call, ast.Call)}


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _is_assertion(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and "assert_" in _name(node.func)

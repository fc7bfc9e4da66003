"""Lab 3-7's solutions against TensorFlow's own RewriteGraphForExecution, ReplicateConstantsPass and Partition."""

from __future__ import annotations

import ctypes
import random
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tflabs.course.lab import grade_id
from tflabs.course.layout import Course
from tflabs.course.text import to_notebook

PLACES = [f"/job:worker/replica:0/task:{task}/device:CPU:{number}" for task in (0, 1) for number in (0, 1)]
# Loading and building takes most of the time, so all tests run where both were done.
pytestmark = pytest.mark.xdist_group("oracle-partition")


class OracleError(Exception):
    """TensorFlow refused."""


class Oracle:
    """The library of partition.cc, in Python's types."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def _ask(self, function: str, graph: Any, *arguments: Any) -> dict[str, Any]:
        call, size = getattr(self._library, function), ctypes.c_size_t()
        call.restype = ctypes.c_void_p
        data = graph.SerializeToString()
        buffer = call(data, ctypes.c_size_t(len(data)), *arguments, ctypes.byref(size))
        text = ctypes.string_at(buffer, size.value)
        self._library.oracle_free(ctypes.c_void_p(buffer))
        if text.startswith(b"E"):
            raise OracleError(text[1:].decode())
        graphs, at = {}, 1
        while at < len(text):
            head = re.compile(rb"(\d+) (\d+) ").match(text, at)
            assert head is not None
            names, count = int(head[1]), int(head[2])
            name, at = text[head.end() : head.end() + names].decode(), head.end() + names + count
            graphs[name] = type(graph).FromString(text[at - count : at])
        return graphs

    def prune(self, graph: Any, fetches: list[str], feeds: list[str], device: str) -> Any:
        """The graph of a step; fetches as in the lab: tensors, or "^x"."""
        tensors = [name for name in fetches if name[0] != "^"]
        targets = [name[1:] for name in fetches if name[0] == "^"]
        lines = ["\n".join(names).encode() for names in (feeds, tensors, targets)]
        return self._ask("oracle_prune", graph, *lines, device.encode())[""]

    def replicate(self, graph: Any) -> Any:
        """The graph with copies."""
        return self._ask("oracle_replicate", graph)[""]

    def partition(self, graph: Any, by_task: bool) -> dict[str, Any]:
        """The parts, by place."""
        return self._ask("oracle_partition", graph, ctypes.c_int(by_task))


@pytest.fixture(scope="module")
def lab(real_course: Course) -> SimpleNamespace:
    """What the given cells and the solutions of lab 3-7 define."""
    names: dict[str, Any] = {}
    for cell in to_notebook(real_course.text("3-7-graph").read_text(encoding="utf-8"), "3-7-graph").cells:
        if cell.cell_type == "code" and grade_id(cell) and not cell.metadata.nbgrader.grade:
            exec(cell.source, names)
    return SimpleNamespace(**names)


@pytest.fixture(scope="module")
def oracle(build_oracle: Callable[[str], ctypes.CDLL], lab: SimpleNamespace) -> Oracle:
    return Oracle(build_oracle("partition.cc"))


def same_copies(graph: Any) -> Any:
    """The graph with TensorFlow's copies named as in the lab."""
    new = {node.name: re.sub(r"/replicate/_\d+$", f"/copy{node.device[-1]}", node.name) for node in graph.node}
    for node in graph.node:
        node.name = new[node.name]
        for position, text in enumerate(node.input):
            name, colon, output = text.removeprefix("^").partition(":")
            node.input[position] = "^" * text.startswith("^") + new[name] + colon + output
    return graph


@pytest.mark.parametrize("seed", range(20))
def test_a_step_is_pruned_as_the_runtime_does_it(lab: SimpleNamespace, oracle: Oracle, seed: int) -> None:
    case = lab.random_case(random.Random(seed))
    feeds = list(case.feeds)
    mine = lab.prune(case.graph, case.fetches, feeds)
    theirs = oracle.prune(case.graph, case.fetches, feeds, lab.CPU[0])
    assert lab.difference(mine, theirs) == ""
    assert [node.name for node in mine.node if node.op[0] != "_"] == [
        node.name for node in case.graph.node if node.name in {other.name for other in theirs.node}
    ]


@pytest.mark.parametrize(
    ("fetches", "feeds", "words"),
    [
        (["ghost:0"], [], "ghost:0"),
        (["^ghost"], [], "ghost"),
        (["out:0"], ["ghost:0"], "ghost:0"),
        (["out:1"], [], "out:1"),
        (["out:0"], ["x:0", "x:0"], "fed twice"),
        (["out:0", "product:0"], ["product:0"], "both fed and fetched"),
        ([], ["x:0"], "nothing"),
    ],
)
def test_what_the_runtime_refuses_is_refused(
    lab: SimpleNamespace, oracle: Oracle, fetches: list[str], feeds: list[str], words: str
) -> None:
    with pytest.raises(OracleError):
        oracle.prune(lab.nine_nodes(), fetches, feeds, lab.CPU[0])
    with pytest.raises(ValueError, match=words):
        lab.prune(lab.nine_nodes(), fetches, feeds)


def test_small_constants_are_copied_as_the_pass_does_it(lab: SimpleNamespace, oracle: Oracle) -> None:
    copies, rng = 0, random.Random(0)
    graphs = [lab.few_constants(length) for length in (1, 15, 16, 17)]
    for _ in range(40):
        case = lab.random_case(rng, 12, 5, 6)
        graphs.append(lab.prune(case.graph, case.fetches, list(case.feeds)))
    for graph in graphs:
        mine = lab.replicate(graph)
        assert lab.difference(mine, same_copies(oracle.replicate(graph))) == ""
        copies += sum("/copy" in node.name for node in mine.node)
    assert copies > 20


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("by_task", [False, True])
def test_parts_are_those_of_the_runtime(lab: SimpleNamespace, oracle: Oracle, seed: int, by_task: bool) -> None:
    """Also what a master does and its workers after it: the parts of tasks, each cut by device."""
    rng = random.Random(seed)
    graph = lab.random_graph(rng, 16)
    moved = dict(zip(lab.CPU, rng.sample(PLACES, 3), strict=True))
    for node in graph.node:
        node.device = moved[node.device]
    where = lab.task_of if by_task else lab.device_of
    mine, theirs = lab.partition(graph, where), oracle.partition(graph, by_task)
    assert lab.review(graph, mine, where) == ""
    assert lab.transfers(graph, mine) == lab.transfers(graph, theirs)
    assert lab.difference(lab.joined(theirs), graph) == ""
    for place, part in mine.items() if by_task else ():
        own = {node.name for node in part.node if node.name in {other.name for other in graph.node}}
        assert own == {node.name for node in theirs[place].node} & {node.name for node in graph.node}
        again, due = lab.partition(part), oracle.partition(part, False)
        assert lab.review(part, again) == ""
        assert lab.transfers(part, again) == lab.transfers(part, due)

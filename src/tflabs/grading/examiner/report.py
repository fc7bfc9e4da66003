"""What the driver and the examiner tell each other."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Any

from tflabs.grading.examiner.codec import need

STATES = ("ok", "error", "timeout", "learner-gone", "protocol", "examiner-gone")


@dataclass(frozen=True)
class Task:
    """A cell to run. `kind` is 'given', 'test' (only a test may call the learner's code), or 'there': a test that the
    learner's process must run itself (`proof`). 'note' runs nothing: the given cell of that name has run over there.

    `names` are the learner's names that the cell may look up (sorted; None: any name).
    """

    number: int
    kind: str
    name: str
    source: str
    cell_seconds: float
    call_seconds: float
    names: list[str] | None = None


@dataclass(frozen=True)
class CellResult:
    """What became of a cell in the examiner.

    `state`: 'ok'; 'error' (an exception, also LiveObjectError or CannotCross, which say what the test must do);
    'timeout' (of the cell or of one call); 'learner-gone' (the kernel ended or does not serve); 'protocol' (the kernel
    sent what is no message); 'examiner-gone' (the examiner itself ended or hung; start another one).
    `called`: whether the cell asked anything of the learner's code. `looked_up`: the learner's names that it read.
    `trace`: where the learner's code raised, in its words, if the cell failed for that. Texts are cut to 200,000
    characters.
    """

    name: str
    state: str
    ename: str
    evalue: str
    stdout: str
    called: bool
    seconds: float
    calls: int
    looked_up: list[str]
    trace: str


def to_plain(message: Task | CellResult) -> list[Any]:
    """A plain list for the codec."""
    return list(astuple(message))


def task_of(plain: Any) -> Task:
    """The task in a message.

    Raises:
        ProtocolError: there is none.
    """
    need(type(plain) is list and len(plain) == len(fields(Task)), "no task")
    return Task(*plain)


def result_of(plain: Any) -> CellResult:
    """The result in a message; the examiner read what the learner sent, so its types are checked.

    Raises:
        ProtocolError: there is none.
    """
    need(type(plain) is list and len(plain) == len(fields(CellResult)), "no result")
    kinds = (str, str, str, str, str, bool, float, int, list, str)
    need(all(type(value) is kind for value, kind in zip(plain, kinds, strict=True)), "no result")
    need(plain[1] in STATES and all(type(name) is str for name in plain[8]), "no result")
    return CellResult(*plain)

"""A learner's process that does not keep to the protocol: it ends a cell, earns nothing and does not stop the examiner.

The hostile process is this one: it speaks the protocol by hand.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tflabs.grading.examiner import codec
from tflabs.grading.examiner.channel import Channel
from tflabs.grading.examiner.client import Client, listen, spawn
from tflabs.grading.examiner.report import CellResult

LIVE = codec.VALUES  # the hostile process understands plain messages only


class Hostile:
    """An examiner and a hand-made process in the learner's place."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "examiner"
        (mine, theirs), (feed, their_feed) = socket.socketpair(), socket.socketpair()
        with theirs, their_feed:
            self.process = spawn(theirs, their_feed, (), folder)
        self.client = Client(mine, feed)
        with listen(self.path) as listener:
            self.client.admit(listener)

    def connect(self, role: str = "main", number: int = 0) -> Channel:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self.path))
        channel = Channel(connection)
        channel.send(codec.dumps([role, number]))
        return channel

    def test(self, source: str, answer: Callable[[Channel, list[Any]], None], **limits: Any) -> CellResult:
        """Run a test cell; `answer` gets each request but the first (which tells the examiner's classes)."""
        number = self.client.begin("test", source, **({"call_seconds": 5.0, "cell_seconds": 20.0} | limits))

        def serve() -> None:
            with contextlib.suppress(EOFError, OSError):
                channel = self.connect("main", number)
                while True:
                    message = codec.loads(channel.receive(), LIVE | self.table())
                    if message[3] == "records":
                        channel.send(codec.dumps(["ok", message[1], "", None]))
                    else:
                        answer(channel, message)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        result = self.client.result()
        thread.join(10)
        return result

    @staticmethod
    def table() -> codec.Table:
        return {
            "h": (1, lambda decoder, parts: ("handle", parts[0])),
            "f": (2, lambda decoder, parts: ("function", parts[0])),
        }


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    with tempfile.TemporaryDirectory(prefix="tfx-", dir="/tmp") as folder:
        made = Hostile(Path(folder))
        yield made
        assert made.process.poll() is None, "the examiner ended"
        made.client.close()
        assert made.process.wait(10) == 0


@pytest.fixture(autouse=True)
def honest_afterwards(hostile: Hostile) -> Iterator[None]:
    """After each attack an honest process gets its points."""
    yield
    result = hostile.test("assert answer == 42", lambda channel, m: channel.send(codec.dumps(["ok", m[1], "", 42])))
    assert result.state == "ok", result


def reply(*parts: Any) -> Callable[[Channel, list[Any]], None]:
    """Answers each request with these parts in the place of the sequence number's successors."""
    return lambda channel, m: channel.send(codec.dumps([parts[0], m[1], "", *parts[1:]]))


def raw(text: str, data: bytes = b"") -> Callable[[Channel, list[Any]], None]:
    """Answers with a message whose value is the JSON text; SEQ stands for the sequence number."""

    def answer(channel: Channel, m: list[Any]) -> None:
        encoded = text.replace("SEQ", str(m[1])).encode()
        channel.send(struct.pack("<I", len(encoded)) + encoded + data)

    return answer


CHECK = "assert answer == 42"


@pytest.mark.parametrize(
    "answer",
    [
        lambda channel, m: channel.send(b""),
        lambda channel, m: channel.send(os.urandom(300)),
        lambda channel, m: channel._socket.sendall(struct.pack("<I", 0xFFFFFFFF)),
        lambda channel, m: channel._socket.sendall(struct.pack("<I", codec.MAX_BYTES + 1)),
        raw("42"),
        raw('["l"]'),
        raw('["l","ok",SEQ]'),
        raw('["l","ok",SEQ,"",42,42]'),
        raw('["l","ok",SEQ,42,42]'),
        raw('["l","stop",SEQ,"",42]'),
        raw('["l","pass",SEQ,""]'),
        raw('["l","raise",SEQ,"",["bt","int"],null,"",""]'),
        raw('["l","raise",SEQ,"",["x","KeyboardInterrupt",["l"]],null,"",""]'),
        raw('["l","raise",SEQ,"",["x","ValueError",[]],7,"",""]'),
        raw('["l","raise",SEQ,"",["x","CellTimeout",[]],null,"",""]'),
        raw('["l","ok",SEQ,"",["n","os","system"]]'),
        raw('["l","ok",SEQ,"",["bt","__import__"]]'),
        raw('["l","ok",SEQ,"",["bt","open"]]'),
        raw('["l","ok",SEQ,"",["own","np"]]'),
        raw('["l","ok",SEQ,"",["k",1]]'),
        raw('["l","ok",SEQ,"",["h",-1,"thing","x"]]'),
        raw('["l","ok",SEQ,"",["h","1","object","x"]]'),
        raw('["l","ok",SEQ,"",["h",1,"object","' + "x" * 500 + '"]]'),
        raw('["l","ok",SEQ,"",["hm",1,"object","x",0,["_x_link"]]]'),
        raw('["l","ok",SEQ,"",["hm",1,"object","x","0",null]]'),
        raw('["l","ok",SEQ,"",["hm",1,"object","x",0,[1]]]'),
        raw('["l","ok",SEQ,"",["nt","X",["__class__"],[1],1]]'),
        raw('["l","ok",SEQ,"",["nt","X",["a","a"],[1,2],1]]'),
        raw('["l","ok",SEQ,"",["dc","Examiner",["a"],[1]]]'),
        raw('["l","ok",SEQ,"",["en","int","real"]]'),
        raw('["l","ok",SEQ,"",["na","<f8",8,1]]'),
        raw('["l","call",1,["t"],["d"]]'),
        raw('["l","next",1]'),
        raw('["l","call",["t"],["t"],["d"]]'),
    ],
)
def test_a_malformed_answer_is_a_protocol_error(hostile: Hostile, answer: Callable[..., None]) -> None:
    result = hostile.test(CHECK, answer)
    assert result.state == "protocol", result


def test_an_answer_to_another_request_is_dropped(hostile: Hostile) -> None:
    """Answers that come early, late or for a request of the future do not count; the right one does."""

    def answer(channel: Channel, m: list[Any]) -> None:
        for sequence, value in [(m[1] - 1, 41), (m[1] + 1, 40), (-1, 39), (True, 38), (m[1], 42)]:
            channel.send(codec.dumps(["ok", sequence, "", value]))

    assert hostile.test(f"{CHECK}\n{CHECK}", answer).state == "ok"
    wrong = hostile.test(
        CHECK, lambda channel, m: channel.send(codec.dumps(["ok", m[1] + 1, "", 42])), call_seconds=0.3
    )
    assert wrong.state in ("timeout", "learner-gone"), wrong


def test_a_late_answer_does_not_answer_the_next_request(hostile: Hostile) -> None:
    seen: list[int] = []

    def answer(channel: Channel, m: list[Any]) -> None:
        seen.append(m[1])
        if len(seen) == 1:
            channel.send(codec.dumps(["ok", m[1], "", 42]))
        channel.send(codec.dumps(["ok", seen[0], "", 42]))

    result = hostile.test("assert first == 42\nassert second == 42", answer, call_seconds=0.3)
    assert result.state in ("timeout", "learner-gone"), result


def test_no_answer_at_all_ends_the_cell_in_time(hostile: Hostile) -> None:
    began = time.monotonic()
    result = hostile.test(CHECK, lambda channel, m: None, call_seconds=0.3)
    assert result.state in ("timeout", "learner-gone") and time.monotonic() - began < 15


def test_half_a_message_ends_the_cell_in_time(hostile: Hostile) -> None:
    result = hostile.test(
        CHECK, lambda channel, m: channel._socket.sendall(struct.pack("<I", 99) + b"x"), call_seconds=0.3
    )
    assert result.state in ("timeout", "learner-gone"), result


def test_hanging_up_in_the_middle_is_the_learners_end(hostile: Hostile) -> None:
    assert hostile.test(CHECK, lambda channel, m: channel.close()).state == "learner-gone"


def test_other_clients_get_nothing_and_stop_nothing(hostile: Hostile) -> None:
    """Connections that say nothing, nonsense or another cell's number, and more of them than are allowed."""
    strangers = [hostile.connect("main", number) for number in (-1, 0, 10**6)]
    strangers += [hostile.connect("shell", 0), hostile.connect("call", 7), hostile.connect("back", 0)]
    for message in (b"", b"\xff" * 100, struct.pack("<I", 0xFFFFFFFF)):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(hostile.path))
        connection.sendall(message)
        strangers.append(Channel(connection))
    for _ in range(100):
        with contextlib.suppress(OSError):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(1)
            connection.connect(str(hostile.path))
            strangers.append(Channel(connection))
    for stranger in strangers:
        stranger.close()
    time.sleep(0.2)
    result = hostile.test(CHECK, reply("ok", 41))
    assert (result.state, result.ename) == ("error", "AssertionError")


def test_callbacks_of_an_earlier_cell_have_expired(hostile: Hostile) -> None:
    """A function that a test passed can be called while that test runs, not later, and nothing else can be called."""
    given: list[int] = []

    def keep(channel: Channel, m: list[Any]) -> None:
        if m[3] == "name":
            encoded = f'["l","ok",{m[1]},"",["h",5,"function","f"]]'.encode()
            channel.send(struct.pack("<I", len(encoded)) + encoded)
        else:
            given.append(m[5][0][1])
            channel.send(codec.dumps(["ok", m[1], "", None]))

    assert hostile.test("called = []\nf(lambda: called.append(1))", keep).state == "ok"
    back = hostile.connect("back", 0)
    back.send(codec.dumps(["call", given[0], (), {}]))
    with pytest.raises((EOFError, OSError)):
        back.receive(time.monotonic() + 5)

    def use_again(channel: Channel, m: list[Any]) -> None:
        channel.send(codec.dumps(["call", given[0], (), {}]))

    assert hostile.test("assert called == []\nother(1)", use_again).state == "protocol"
    assert hostile.test("assert called == []", keep).state == "ok"


def test_names_of_the_examiner_and_of_given_cells_are_not_asked(hostile: Hostile) -> None:
    """What Python or a given cell defines cannot be replaced; with `names`, neither can what nobody defined."""
    asked: list[Any] = []

    def answer(channel: Channel, m: list[Any]) -> None:
        asked.append(m[4])
        channel.send(codec.dumps(["ok", m[1], "", 42]))

    assert hostile.client.given("helper", "def check(x):\n    assert x == 43").state == "ok"
    result = hostile.test("check(answer)", answer)
    assert (result.state, result.ename) == ("error", "AssertionError") and asked == ["answer"]
    assert hostile.test("assert len([1]) == 2", answer).ename == "AssertionError"
    assert hostile.test("np.testing", answer, names=["answer"]).ename == "NameError"
    assert hostile.test("_answer", answer).ename == "NameError"
    assert asked == ["answer"]


def test_a_name_has_one_value_in_a_cell(hostile: Hostile) -> None:
    """An empty list at the second look would make every loop over it pass."""
    answers = iter([[1, 2, 3], []])
    result = hostile.test(
        "assert len(found) == 3\nfor item in found:\n    assert item == 0",
        lambda channel, m: channel.send(codec.dumps(["ok", m[1], "", next(answers)])),
    )
    assert result.ename == "AssertionError"


def test_a_driver_survives_an_examiner_that_ends() -> None:
    mine, theirs = socket.socketpair()
    client = Client(mine, socket.socket(socket.AF_UNIX))
    theirs.close()
    result = client.given("given", "pass")
    assert result.state == "examiner-gone"


def test_a_driver_does_not_wait_for_an_examiner_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tflabs.grading.examiner.client.SLACK", 0.1)
    mine, _theirs = socket.socketpair()
    client = Client(mine, socket.socket(socket.AF_UNIX))
    client.begin("test", "pass", cell_seconds=0.1)
    assert client.result().state == "examiner-gone"
    assert client.given("given", "pass").state == "examiner-gone"

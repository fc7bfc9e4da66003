"""Messages over a socket: whole, in time and within the limit."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time

import pytest

from tflabs.grading.examiner.channel import Channel
from tflabs.grading.examiner.errors import ProtocolError
from tflabs.grading.examiner.examiner import connections


@pytest.fixture
def pair() -> tuple[Channel, socket.socket]:
    mine, theirs = socket.socketpair()
    return Channel(mine, limit=1 << 20), theirs


def soon(seconds: float = 0.2) -> float:
    return time.monotonic() + seconds


def test_messages_arrive_whole_and_in_order(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    sizes = [0, 1, 5000, 1 << 20]
    other = Channel(theirs)
    sender = threading.Thread(target=lambda: [other.send(bytes([n]) * size) for n, size in enumerate(sizes)])
    sender.start()
    assert [channel.receive(soon(10)) for _ in sizes] == [bytes([n]) * size for n, size in enumerate(sizes)]
    sender.join()


def test_a_receive_that_ran_into_its_deadline_goes_on_later(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    whole = struct.pack("<I", 4) + b"abcd"
    for piece in (whole[:2], whole[2:6]):
        theirs.sendall(piece)
        with pytest.raises(TimeoutError):
            channel.receive(soon(0.05))
    theirs.sendall(whole[6:])
    assert channel.receive(soon()) == b"abcd"


def test_a_peer_that_sends_byte_by_byte_cannot_stretch_the_deadline(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    stop = threading.Event()

    def drip() -> None:
        theirs.sendall(struct.pack("<I", 1000))
        while not stop.wait(0.02):
            theirs.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        channel.receive(began + 0.2)
    assert time.monotonic() - began < 2
    stop.set()
    thread.join()


def test_a_claim_beyond_the_limit_is_refused_before_it_is_read(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    theirs.sendall(struct.pack("<I", (1 << 20) + 1))
    with pytest.raises(ProtocolError, match="limit"):
        channel.receive(soon())


def test_a_peer_that_does_not_read_cannot_hold_the_sender(pair: tuple[Channel, socket.socket]) -> None:
    channel, _ = pair
    with pytest.raises(TimeoutError):
        channel.send(bytes(8 << 20), soon(0.1))


def test_the_end_of_the_connection_is_an_end(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    theirs.sendall(struct.pack("<I", 4) + b"ab")
    theirs.close()
    with pytest.raises(EOFError):
        channel.receive(soon())


def test_close_wakes_a_thread_that_waits(pair: tuple[Channel, socket.socket]) -> None:
    channel, _ = pair
    ended = []

    def wait() -> None:
        try:
            channel.receive(None)
        except (EOFError, OSError) as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    channel.close()
    thread.join(5)
    assert ended and not thread.is_alive()


def test_over_a_line_come_connections_and_nothing_else() -> None:
    """What a learner's kernel sends over it is the learner's: files, pipes, sockets of other kinds, plain bytes."""
    line, theirs = socket.socketpair()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with contextlib.ExitStack() as stack:
        pairs = [stack.enter_context(each) for each in socket.socketpair()]
        datagrams = [stack.enter_context(each) for each in socket.socketpair(type=socket.SOCK_DGRAM)]
        tcp, file = stack.enter_context(socket.socket()), stack.enter_context(open(os.devnull))  # noqa: PTH123
        for sent in ([file.fileno()], [datagrams[0].fileno()], [tcp.fileno()], [], [pairs[0].fileno(), tcp.fileno()]):
            socket.send_fds(theirs, [b"c"], sent)
        theirs.close()
        (found,) = connections(line)
        pairs[1].sendall(b"hello")
        assert found.recv(5) == b"hello"
        found.close()
    assert len(os.listdir("/proc/self/fd")) == before - 1  # noqa: PTH208
    line.close()


def test_a_listener_that_is_shut_down_gives_no_more() -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0tflabs-test-{os.getpid()}")
        listener.listen()
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(listener.getsockname())
            coming = connections(listener)
            next(coming).close()
            listener.shutdown(socket.SHUT_RDWR)
            assert list(coming) == []

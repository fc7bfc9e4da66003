"""A player that moves an allocator by hand and replays a recorded run."""

from __future__ import annotations

from view_svg_checks import check_page, check_pixels
from view_widgets import controls, html

from tflabs.view import memory_player
from tflabs.view.memory_player import MemoryModel, Moved

RECORD = [Moved("allocate", 0, 512, 300, "MatMul"), Moved("allocate", 512, 256, 8, ""), Moved("free", 0, 0, 0, "")]


class Stack:
    """An allocator that only goes up, and takes back only what is on top."""

    def __init__(self, size: int) -> None:
        self.size, self.sizes = size, [0]

    @property
    def in_use(self) -> int:
        return sum(self.sizes)

    def allocate(self, n: int) -> int:
        need = -(-n // 256) * 256
        if self.in_use + need > self.size:
            raise MemoryError(n)
        self.sizes.append(need)
        return self.in_use - need

    def free(self, offset: int) -> None:
        if self.in_use - self.sizes[-1] != offset:
            raise ValueError(f"{offset} is not on top")
        self.sizes.pop()


class Unwritten:
    def __init__(self, size: int) -> None:
        raise NotImplementedError


class Careless(Stack):
    """Gives the same bytes to everybody."""

    def allocate(self, n: int) -> int:
        super().allocate(n)
        return 0


def test_the_model_does_what_its_allocator_does() -> None:
    model = MemoryModel(Stack, 2048)
    model.allocate(1000)
    model.allocate(300)
    assert model.said == "B: 300 bytes asked for, a chunk of 512 given at 1024."
    assert model.live == {"A: 1000 B at 0": 0, "B: 300 B at 1024": 1024}
    model.allocate(600)
    assert model.said == "MemoryError: 600 bytes asked for, 512 free, the largest free chunk has 512."
    model.free(0)
    assert model.said == "It raised ValueError: 0 is not on top" and len(model.live) == 2
    model.free(1024)
    assert model.said == "The chunk at 1024 is free." and model.live == {"A: 1000 B at 0": 0}
    check_page(model.picture())
    check_pixels(model.picture())
    model.clear()
    assert model.live == {} and model.said == ""


def test_what_the_allocator_cannot_do_is_said() -> None:
    unwritten = MemoryModel(Unwritten, 2048)
    unwritten.allocate(1)
    assert unwritten.said == "The class is not written yet."
    check_page(unwritten.picture())
    missing = MemoryModel(None, 2048)
    missing.allocate(1)
    assert missing.said == "The class is not written yet." and missing.live == {}
    careless = MemoryModel(Careless, 2048)
    careless.allocate(10)
    careless.allocate(10)
    assert careless.said.startswith("It raised ValueError: event 1: bytes from 0 on are in use")
    assert len(careless.live) == 1


def test_the_player_does_what_its_buttons_say() -> None:
    player = memory_player(RECORD, Stack, size=1024, room=2048)
    found = controls(player)
    by_hand, replay = html(player)
    assert found["Free"].disabled
    found["Allocate"].click()
    changed, _ = html(player)
    assert changed != by_hand and not found["Free"].disabled
    found["Free"].click()
    assert found["Free"].disabled
    found["Start over"].click()
    assert html(player) == [by_hand, replay]
    seen = {replay}
    for _ in range(len(RECORD) + 1):
        found["On"].click()
        seen.add(html(player)[1])
    assert len(seen) == len(RECORD) + 1, "each event changes the picture, and behind the last one nothing comes"
    for _ in range(len(RECORD) + 1):
        found["Back"].click()
    assert html(player)[1] == replay


def test_a_player_without_an_allocator_replays() -> None:
    player = memory_player(RECORD, Unwritten, size=1024)
    found = controls(player)
    found["Allocate"].click()
    before = html(player)
    found["event"].value = 2
    assert html(player)[1] != before[1] and html(player)[0] == before[0]

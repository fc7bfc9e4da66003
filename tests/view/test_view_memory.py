"""Pictures of one region of memory: over time, and at one moment."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
from view_svg_checks import check_page, check_pixels, groups, legend, parse, texts

from tflabs.view import memory_map, memory_strip
from tflabs.view.memory import Block, Gap, blocks, byte_words, gaps


class Event(NamedTuple):
    kind: str
    requested: int
    size: int
    offset: int
    op: str


def take(requested: int, size: int, offset: int, op: str = "") -> Event:
    return Event("allocate", requested, size, offset, op)


def back(offset: int) -> Event:
    return Event("free", 0, 0, offset, "")


EVENTS = [take(1000, 1024, 0, "MatMul"), take(512, 512, 1024, "Relu"), back(0), take(700, 1024, 0, "Sum"), back(1024)]


def shown(picture: object) -> list[str]:
    return [words for words, _ in texts(parse(picture))]


def random_events(rng: random.Random, count: int) -> list[Event]:
    """Chunks of very different sizes side by side, given back in any order."""
    events, end, live = [], 0, []
    for number in range(count):
        if live and rng.random() < 0.4:
            events.append(back(live.pop(rng.randrange(len(live)))))
        else:
            size = 256 * int(2 ** rng.uniform(0, 14))
            events.append(take(size - rng.randrange(256), size, end, f"an op with a long name {number}"))
            live.append(end)
            end += size
    return events


def test_blocks_are_lives_of_chunks() -> None:
    assert blocks(EVENTS) == [
        Block(0, 1024, 1000, 0, 2, "MatMul"),
        Block(1024, 512, 512, 1, 4, "Relu"),
        Block(0, 1024, 700, 3, 5, "Sum"),
    ]


def test_gaps_lie_between_chunks_in_use() -> None:
    live = [Block(256, 256, 1, 0, 9, ""), Block(1024, 512, 1, 0, 9, "")]
    assert gaps(live, 4096) == [Gap(0, 256), Gap(512, 512), Gap(1536, 2560)]
    assert gaps([], 512) == [Gap(0, 512)] and gaps([Block(0, 512, 1, 0, 1, "")], 512) == []


@pytest.mark.parametrize(
    ("size", "number"), [(256, 0), (511, 0), (512, 1), (1023, 1), (1 << 20, 12), (1 << 28, 20), (1 << 33, 20)]
)
def test_bins_double(size: int, number: int) -> None:
    assert Gap(0, size).bin == number


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([back(0)], "frees 0, where no chunk in use begins"),
        ([take(1, 256, 0), back(0), back(0)], "event 2 frees 0"),
        ([take(1, 512, 0), take(1, 256, 256)], "event 1: bytes from 256 on are in use from 0 on"),
    ],
)
def test_contradictions_are_refused(events: list[Event], words: str) -> None:
    for draw in (memory_map, lambda e: memory_strip(e, size=4096)):
        with pytest.raises(ValueError, match=words):
            draw(events)


def test_numbers_of_bytes_are_short() -> None:
    assert [byte_words(n) for n in (0, 256, 1024, 18944, 2 << 20, 3 << 30)] == [
        "0 B",
        "256 B",
        "1 KiB",
        "18.5 KiB",
        "2 MiB",
        "3 GiB",
    ]


def test_a_map_has_a_box_for_each_life() -> None:
    picture = memory_map(EVENTS, title="A run", notes=["A note."])
    check_page(picture)
    check_pixels(picture)
    assert len(groups(parse(picture), "chunk")) == 3
    assert {"A run", "A note.", "address", "event", "0 B", "1 KiB", "1.5 KiB"} <= set(shown(picture))
    assert legend(parse(picture)) == [
        "in use: asked for",
        "in use: added by rounding, or given whole",
        "free",
        "bytes in use",
        "bytes asked for",
    ]
    assert picture.alt == (
        "5 events in one region: 3 chunks given away, the highest ends at 1.5 KiB. At most 1.5 KiB are in use."
    )


def test_boxes_lie_at_their_events_and_addresses() -> None:
    picture = memory_map([take(512, 512, 0), take(512, 512, 512), back(0), take(256, 512, 0)])
    tags = [[rect for rect in group if rect.tag.endswith("rect")] for group, _, _ in groups(parse(picture), "chunk")]
    place = [{key: float(rect.get(key)) for key in ("x", "y", "width", "height")} for rects in tags for rect in rects]
    first, above, asked, whole = place
    assert above["y"] + above["height"] == pytest.approx(first["y"], abs=0.2)
    assert first["width"] == pytest.approx(2 * (above["x"] - first["x"]), abs=0.2)
    assert asked["height"] == pytest.approx(whole["height"], abs=0.2), "half of the chunk was asked for"
    assert whole["y"] < asked["y"], "what nobody asked for lies above"


@pytest.mark.parametrize("count", [1, 7, 400])
def test_runs_of_any_size_are_drawn(count: int) -> None:
    events = random_events(random.Random(count), count)
    picture = memory_map(events)
    check_page(picture)
    check_pixels(picture)
    assert picture.size[0] <= 1180 and (count > 260 or picture.size[0] <= 830)
    check_page(memory_strip(events[:60], size=1 << 40))


def test_nothing_is_not_drawn() -> None:
    with pytest.raises(ValueError, match="no events"):
        memory_map([])


def test_a_strip_shows_chunks_holes_and_bins() -> None:
    picture = memory_strip(EVENTS, size=4096, title="Now", notes=["A note."])
    check_page(picture)
    check_pixels(picture)
    assert len(groups(parse(picture), "chunk")) == 1 and len(groups(parse(picture), "gap")) == 1
    assert {"Sum", "700 B", "largest free chunk", "bin 3, from 2 KiB on:  3 KiB at 1 KiB"} <= set(shown(picture))
    assert picture.alt == (
        "A region of 4 KiB: 1 chunk in use, 1 free chunk. In use 1 KiB, of which 700 B were asked for; "
        "free 3 KiB, the largest free chunk 3 KiB."
    )


def test_an_axis_that_is_stretched_says_so() -> None:
    def says_so(picture: object) -> bool:
        return any("not to scale" in words for words in shown(picture))

    assert not says_so(memory_map(EVENTS)) and not says_so(memory_strip(EVENTS[:2], size=2048))
    small = [take(256, 256, 0, "Mul"), take(1 << 20, 1 << 20, 256, "Relu")]
    assert says_so(memory_map(small)) and says_so(memory_strip(small, size=2 << 20))
    assert says_so(memory_strip(EVENTS, size=1 << 20)), "the long free end is cut short"


def test_an_empty_and_a_full_region_are_drawn() -> None:
    check_page(memory_strip([], size=4096))
    full = memory_strip([take(4096, 4096, 0, "x")], size=4096)
    check_page(full)
    assert "all empty" in shown(full)
    with pytest.raises(ValueError, match="ends at 2048, a chunk at 4096"):
        memory_strip([take(4096, 4096, 0)], size=2048)


@pytest.mark.parametrize("size", [2048, 4096, 1 << 20])
def test_chunks_and_holes_stand_side_by_side(size: int) -> None:
    picture = memory_strip([take(500, 512, 0), take(500, 512, 512), take(500, 512, 1024), back(512)], size=size)
    root = parse(picture)
    parts = [group[0] for css in ("chunk", "gap") for group in groups(root, css)]
    boxes = sorted((float(part[0].get("x")), part) for part in parts)
    outlines = [
        max((float(rect.get("x")) + float(rect.get("width")) for rect in part.iter() if rect.get("width")), default=0)
        for _, part in boxes
    ]
    starts = [start for start, _ in boxes]
    assert [part.get("class") for _, part in boxes] == ["chunk", "gap", "chunk", "gap"]
    assert starts[1:] == pytest.approx(outlines[:-1], abs=0.2)

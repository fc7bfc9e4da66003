"""The chart of a session's calls: every call is there, from its caller to its callee, in order."""

from __future__ import annotations

import re

import pytest
from view_svg_checks import check_page, check_pixels, legend, parse, shape_box, texts, walk

from tflabs.view import Call, Picture, protocol

CALLS = [
    Call("Client", "Master", "CreateSession", "the graph: 7 nodes", "the session's name"),
    Call("Client", "Master", "RunStep", "feed x:0; fetch y:0", "y:0"),
    Call("Master", "Worker 1", "RegisterGraph", "a partition: 4 nodes", "handle 0000000000000001"),
    Call("Master", "Worker 0", "RunGraph", "step 1, handle 0000000000000001"),
    Call("Worker 1", "Worker 0", "RecvTensor", "step 1, edge_4_product", "a tensor"),
]


def heads(picture: Picture) -> list[tuple[float, float]]:
    """The left and right end of each arrow head, in order."""
    found = [
        shape_box(element, dx, dy)
        for element, dx, dy in walk(parse(picture))
        if (element.get("class") or "").startswith("solid")
    ]
    return [(box.left, box.right) for box in found]


def lanes(picture: Picture) -> dict[str, float]:
    """The middle of each party's name."""
    parties = {name for call in CALLS for name in (call.caller, call.callee)}
    return {words: (box.left + box.right) / 2 for words, box in texts(parse(picture)) if words in parties}


def test_it_is_a_sound_picture() -> None:
    picture = protocol(CALLS, title="Who calls whom")
    check_page(picture)
    check_pixels(picture)
    assert legend(parse(picture)) == ["session opened or closed", "registration", "execution", "a tensor fetched"]


def test_parties_stand_in_order_and_arrows_end_at_the_callee() -> None:
    picture = protocol(CALLS)
    middle = lanes(picture)
    assert sorted(middle, key=middle.__getitem__) == ["Client", "Master", "Worker 0", "Worker 1"]
    assert len(heads(picture)) == len(CALLS)
    for call, (left, right) in zip(CALLS, heads(picture), strict=True):
        tip = right if middle[call.callee] > middle[call.caller] else left
        assert abs(tip - middle[call.callee]) < 3, call


def test_rows_are_in_the_order_of_the_calls_and_say_what_they_carry() -> None:
    picture = protocol(CALLS)
    height = {words: box.top for words, box in texts(parse(picture))}
    rows = [height[call.method] for call in CALLS]
    assert rows == sorted(rows)
    assert len(set(rows)) == len(rows)
    for call in CALLS:
        for words in (call.carries, call.answer):
            assert not words or words in height
    assert "Worker 1 calls RecvTensor of Worker 0 with step 1, edge_4_product; answer: a tensor." in picture.alt


def test_long_words_continue_on_the_next_line_and_overlap_nothing() -> None:
    long = Call("A", "B", "RunStep", "feed " + ", ".join(f"layer_{i}/kernel:0" for i in range(12)), "y:0")
    names = "/job:worker/replica:0/task:10", "/job:worker/replica:0/task:11"
    picture = protocol([long, Call(*names, "RecvTensor", "step 1, edge_1_x", "a tensor")])
    check_page(picture)
    found = texts(parse(picture))
    assert len([words for words, _ in found if "kernel" in words]) > 2
    for index, (words, box) in enumerate(found):
        for other, second in found[index + 1 :]:
            assert not box.overlaps(second), (words, other)
    assert re.search(r"layer_11/kernel:0", picture.alt)


def test_it_refuses_no_calls_and_a_call_to_oneself() -> None:
    with pytest.raises(ValueError, match="no calls to draw"):
        protocol([])
    with pytest.raises(ValueError, match="Master calls itself: RunGraph"):
        protocol([Call("Master", "Master", "RunGraph")])

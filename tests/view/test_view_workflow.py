"""Pictures of a training job: the bytes of a record, who works when, and a player that follows its sliders."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from test_view_timeline import stats
from view_svg_checks import check_page, check_pixels, legend, parse, texts

from tflabs.view import Span, activity, input_player, record_fields, step_activity
from tflabs.view.workflow import covered, played, simulated, step_spans


def shown(picture: object) -> list[str]:
    return [words for words, _ in texts(parse(picture))]


def record(payload: bytes) -> bytes:
    return struct.pack("<Q", len(payload)) + b"\x01\x02\x03\x04" + payload + b"\xaa\xbb\xcc\xdd"


def test_a_record_is_drawn_field_by_field() -> None:
    picture = record_fields(record(b"hello") + b"rest", "a greeting", title="The first record")
    check_page(picture)
    check_pixels(picture)
    words = shown(picture)
    assert {"length", "CRC of the length", "payload", "CRC of the payload", "a greeting", "5 bytes"} <= set(words)
    digits = [word for word in words if len(word) == 2]
    assert " ".join(digits) == "05 00 00 00 00 00 00 00 01 02 03 04 68 65 6c 6c 6f aa bb cc dd"
    assert "The first 21 of 25 bytes. The next record follows." in words
    assert "payload, 5 bytes: a greeting" in picture.alt


@pytest.mark.parametrize("size", [0, 1, 16, 17, 128, 129, 5000])
def test_records_of_any_size_are_drawn(size: int) -> None:
    picture = record_fields(record(bytes(size)), "a meaning of many words that needs more than one line " * 3)
    check_page(picture)
    assert ("…" in shown(picture)) == (size > 128)
    assert "The next record follows." not in " ".join(shown(picture))


@pytest.mark.parametrize("data", [b"", b"\x05" + bytes(11), record(b"hello")[:-1]])
def test_a_record_that_is_not_whole_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="hold no whole record"):
        record_fields(data)


def test_activity_shows_work_and_waits() -> None:
    spans = [
        Span("input", 100, 300, "0"), Span("input", 300, 350, waiting=True), Span("training", 100, 250, waiting=True),
        Span("training", 250, 300, "first"),
    ]  # fmt: skip
    picture = activity(spans, title="Two halves", notes=["A note."])
    check_page(picture)
    check_pixels(picture)
    assert {"input", "training", "0", "first", "A note."} <= set(shown(picture))
    assert legend(parse(picture)) == ["at work", "waits for the other half"]
    assert picture.alt == (
        "2 lanes over 250 µs. input: at work 80% of the time, waits 20%; training: at work 20% of the time, waits 60%."
    )
    assert legend(parse(activity(spans[:1]))) == []
    with pytest.raises(ValueError, match="no spans"):
        activity([])


@pytest.mark.parametrize("total", [0.0, 0.5, 900.0, 9_999.0, 10_000.0, 5e6])
def test_activity_of_any_length_is_drawn(total: float) -> None:
    picture = activity([Span("a", 5.0, 5.0 + total), Span("b", 5.0, 5.0, waiting=True)])
    check_page(picture)
    assert any(words.endswith("ms" if total >= 10_000 else "µs") for words in shown(picture))


def test_an_axis_may_be_longer_than_its_spans() -> None:
    spans = [Span("a", 100, 200, "0")]
    picture = activity(spans, length=400)
    check_page(picture)
    assert picture.alt == "1 lane over 400 µs. a: at work 25% of the time."
    assert activity(spans, length=100).alt == activity(spans).alt
    with pytest.raises(ValueError, match="spans of 100 µs do not fit an axis of 50 µs"):
        activity(spans, length=50)


def test_recorded_steps_become_lanes(tf) -> None:
    recorded = stats(tf, ("parse", 1, 0, 10), ("dequeue", 2, 0, 40), ("matmul", 2, 40, 60), ("other", 2, 0, 5))
    recorded.MergeFrom(stats(tf, ("parse", 1, 30, 20)))
    lanes, waits = {"input": {"parse"}, "training": {"matmul"}}, {"dequeue": "training"}
    assert step_spans(recorded, lanes, waits) == [
        Span("input", 0, 10), Span("input", 30, 50), Span("training", 0, 40, waiting=True), Span("training", 40, 100),
    ]  # fmt: skip
    picture = step_activity(recorded, lanes, waits, title="Recorded")
    check_page(picture)
    assert "input: at work 30% of the time; training: at work 60% of the time, waits 40%." in picture.alt
    with pytest.raises(ValueError, match="none of the nodes of input"):
        step_activity(recorded, {"input": {"elsewhere"}}, waits)


def test_thousands_of_bars_that_touch_are_few(tf) -> None:
    recorded = stats(tf, *(("node", 1, 10 * i, 9) for i in range(5000)))
    picture = step_activity(recorded, {"half": {"node"}}, {})
    assert picture.svg.count("<rect") < 20
    assert "half: at work 90% of the time." in picture.alt


def test_covered_counts_overlaps_once() -> None:
    assert covered([Span("a", 0, 10), Span("a", 5, 8), Span("a", 8, 12), Span("a", 20, 21)]) == 13
    assert covered([]) == 0


def test_without_prefetch_the_halves_take_turns() -> None:
    spans = simulated(element=10, batch=4, step=60, prefetch=0, steps=3)
    work = sorted((s.start, s.end, s.lane) for s in spans if not s.waiting)
    assert [lane for *_, lane in work] == ["input", "training"] * 3
    assert all(now[0] == before[1] for before, now in pairwise(work))
    assert work[-1][1] == 3 * (40 + 60)


@pytest.mark.parametrize("prefetch", [1, 2, 4])
@pytest.mark.parametrize(("element", "step"), [(10, 60), (30, 60), (15, 60)])
def test_with_prefetch_the_longer_half_decides(element: float, step: float, prefetch: int) -> None:
    spans = simulated(element, 4, step, prefetch, steps=12)
    end = max(span.end for span in spans if span.lane == "training")
    assert end == 12 * max(4 * element, step) + min(4 * element, step)
    made = [span.start for span in spans if span.lane == "input" and not span.waiting]
    used = [span.start for span in spans if span.lane == "training" and not span.waiting]
    assert all(start >= used[k - prefetch] for k, start in enumerate(made) if k >= prefetch)


def test_the_player_follows_its_sliders() -> None:
    player = input_player()
    *sliders, picture = player.children
    assert [slider.description for slider in sliders] == ["element, µs", "batch", "training step, µs", "prefetch"]
    seen = [picture.value]
    for slider, value in zip(sliders, [100, 16, 3000, 2], strict=True):
        slider.value = value
        seen.append(picture.value)
    assert len(set(seen)) == 5


def test_the_player_names_the_share_of_waiting() -> None:
    picture = played(simulated(10, 4, 60, 0, 8), 40, 60)
    check_page(picture)
    check_pixels(picture)
    assert {"Training waits 40% of the time", "A batch costs 40 µs, a training step 60 µs."} <= set(shown(picture))

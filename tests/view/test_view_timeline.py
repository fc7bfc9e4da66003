"""`timeline`: bars where the step_stats say."""

from __future__ import annotations

import pytest
from view_svg_checks import check_page, check_pixels, groups, parse, shape_box, texts

from tflabs.view import timeline
from tflabs.view.timeline import read_bars, tick_marks


def bars(root):
    return [(g.get("data-name"), shape_box(g[1], dx, dy)) for g, dx, dy in groups(root, "bar")]


def stats(tf, *nodes, device="/job:localhost/replica:0/task:0/device:CPU:0"):
    """StepStats with nodes of (name, thread, start µs, duration µs)."""
    from tensorflow.core.framework import step_stats_pb2

    made = step_stats_pb2.StepStats()
    entry = made.dev_stats.add(device=device)
    for name, thread, start, took in nodes:
        entry.node_stats.add(
            node_name=name, thread_id=thread, all_start_micros=start, op_end_rel_micros=took, all_end_rel_micros=took
        )
    return made


@pytest.mark.parametrize("lanes", ["thread", "device"])
def test_every_execution_is_a_bar_in_order_of_time(two_devices, loop, lanes):
    for step in (two_devices, loop):
        picture = timeline(step.metadata, lanes=lanes, title="One step")
        check_page(picture)
        recorded = [s for d in step.metadata.step_stats.dev_stats for s in d.node_stats]
        drawn = bars(parse(picture))
        assert sorted(name for name, _ in drawn) == sorted(s.node_name for s in recorded)
        where = {name: box.left for name, box in drawn}
        once = [s for s in recorded if sum(t.node_name == s.node_name for t in recorded) == 1]
        lefts = [where[s.node_name] for s in sorted(once, key=lambda s: s.all_start_nanos)]
        assert len(lefts) > 3 and lefts == sorted(lefts)


def test_length_is_proportional_and_zero_stays_visible(tf):
    picture = timeline(stats(tf, ("a", 1, 1000, 100), ("b", 1, 1200, 200), ("c", 1, 1400, 0)))
    boxes = dict(bars(parse(picture)))
    width = {name: box.right - box.left for name, box in boxes.items()}
    assert width["b"] == pytest.approx(2 * width["a"], abs=0.2)
    assert width["c"] >= 2
    assert boxes["b"].left - boxes["a"].left == pytest.approx(width["b"], abs=0.2)


def test_threads_and_devices_as_lanes(tf):
    step = stats(tf, ("a", 7, 0, 10), ("b", 3, 5, 10))
    words = [w for w, _ in texts(parse(timeline(step)))]
    assert [w for w in words if "thread" in w] == ["thread 3", "thread 7"]
    assert words.count("/device:CPU:0") == 2
    words = [w for w, _ in texts(parse(timeline(step, lanes="device")))]
    assert words.count("/device:CPU:0") == 1 and not any("thread" in w for w in words)


def test_what_overlaps_in_a_lane_is_stacked(tf):
    step = stats(tf, ("a", 1, 0, 100), ("b", 1, 50, 100), ("c", 1, 160, 40))
    boxes = dict(bars(parse(timeline(step))))
    assert not boxes["a"].overlaps(boxes["b"])
    assert boxes["a"].top != boxes["b"].top


def test_bars_and_names_do_not_lie_on_each_other(three_devices, loop):
    for step in (three_devices, loop):
        root = parse(timeline(step.metadata))
        drawn = [box for _, box in bars(root)]
        names = {name for name, _ in bars(root)}
        words = [(w, b) for w, b in texts(root) if w in names]
        for i, (_, a) in enumerate(words):
            assert not any(a.overlaps(b) for _, b in words[i + 1 :])
            assert sum(a.overlaps(b, 1) for b in drawn) <= 1


def test_transfers_are_hatched(tf):
    step = stats(tf, ("a", 1, 0, 50))
    node = step.dev_stats[0].node_stats.add(node_name="s", thread_id=1, all_start_micros=60, all_end_rel_micros=30)
    node.timeline_label = "s = _Send(a)"
    picture = timeline(step)
    assert "Send or Recv" in picture.svg
    assert 'class="line0"' in picture.svg
    assert "Send or Recv" not in timeline(stats(tf, ("a", 1, 0, 50))).svg


def test_crowded_steps(tf):
    step = stats(tf, *((f"node_{i}", 1, 10 * i, 7) for i in range(4000)))
    picture = timeline(step)
    check_page(picture)
    assert "4,000 executions" in picture.alt
    assert len(picture.svg) < 2_000_000


def test_times_are_read_in_nanoseconds_where_they_are(two_devices):
    read = read_bars(two_devices.metadata)
    recorded = [s for d in two_devices.metadata.step_stats.dev_stats for s in d.node_stats]
    assert sum(b.end - b.start for b in read) == pytest.approx(
        sum(max(s.all_end_rel_nanos, s.op_end_rel_nanos) for s in recorded) / 1000
    )
    assert min(b.start for b in read) == 0


@pytest.mark.parametrize("end", [0.001, 0.7, 3, 9.99, 1000, 123456.7])
def test_ticks(end):
    ticks = tick_marks(end)
    assert ticks[0] == 0 and ticks[-1] <= end * (1 + 1e-9) and 4 <= len(ticks) <= 11


def test_errors_say_what_is_wanted(tf, two_devices):
    with pytest.raises(ValueError, match="FULL_TRACE"):
        timeline(tf.compat.v1.RunMetadata())
    with pytest.raises(TypeError, match="StepStats"):
        timeline({})
    with pytest.raises(ValueError, match="lanes"):
        timeline(two_devices.metadata, lanes="core")


def test_one_instant(tf):
    check_page(timeline(stats(tf, ("a", 1, 5, 0))))


def test_pixels(three_devices):
    check_pixels(timeline(three_devices.metadata, title="One step"))

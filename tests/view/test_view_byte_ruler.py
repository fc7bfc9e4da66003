"""A picture of tensors over the addresses of one buffer."""

from __future__ import annotations

import pytest
from view_svg_checks import check_page, check_pixels, legend, parse, shape_box, texts, walk

from tflabs.view import byte_ruler

SPANS = {"t": (0, 512), "t[2:]": (128, 384), "-t": (None, 512), "t[:, 1:]": (None, 480)}


def test_bars_lie_over_their_bytes() -> None:
    picture = byte_ruler(SPANS, 512, title="Four tensors")
    check_page(picture)
    check_pixels(picture)
    assert picture.size[0] <= 830
    assert legend(parse(picture)) == ["bytes of this buffer", "a buffer of its own"]
    assert {"Four tensors", *SPANS, "0", "512", "elsewhere"} <= {words for words, _ in texts(parse(picture))}
    bars = [shape_box(e, dx, dy) for e, dx, dy in walk(parse(picture)) if (e.get("class") or "") in ("tint5", "tint1")]
    whole, part, own, shorter = bars[2:]  # the first two are the legend's
    assert part.right == pytest.approx(whole.right, abs=0.2)
    assert part.right - part.left == pytest.approx((whole.right - whole.left) * 0.75, abs=0.2)
    assert own.left > whole.right and shorter.right < own.right
    assert picture.alt == (
        "A buffer of 512 bytes. On its bytes lie: t from byte 0 on, t[2:] from byte 128 on. "
        "Buffers of their own have: -t, t[:, 1:]."
    )


@pytest.mark.parametrize("length", [1, 64, 1 << 20])
def test_buffers_of_any_length_are_drawn(length: int) -> None:
    check_page(byte_ruler({"a tensor with a rather long expression": (0, length)}, length, tick=max(length // 8, 1)))


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="no tensors"):
        byte_ruler({}, 64)
    with pytest.raises(ValueError, match=r"x goes beyond the buffer's 64 bytes"):
        byte_ruler({"x": (32, 64)}, 64)

"""Live ranges: a bar for each value, in the column of its register; an edge where two ranges meet."""

from __future__ import annotations

import pytest
from view_svg_checks import SVG, check_page, check_pixels, groups, parse, shape_box, texts, walk

from tflabs.view import LiveRange, Picture, live_ranges

# a*b + a*c
PLAIN = [
    LiveRange(words, end)
    for words, end in [("a", 4), ("b", 2), ("multiply %0, %1", 5), ("c", 4), ("multiply %0, %3", 5), ("add %2, %4", 6)]
]
COLOURED = [LiveRange(r.words, r.end, register) for r, register in zip(PLAIN, [0, 1, 1, 2, 0, 0], strict=True)]


def lines(picture: Picture) -> int:
    """Edges of the interference graph."""
    root = parse(picture)
    keys = {id(e) for group, *_ in groups(root, "legend") for e in group.iter()}
    return sum(e.tag == f"{SVG}path" and e.get("class") == "edge" and id(e) not in keys for e, *_ in walk(root))


def test_ranges_and_pressure_are_drawn() -> None:
    picture = live_ranges(PLAIN, title="a*b + a*c")
    check_page(picture)
    check_pixels(picture)
    assert lines(picture) == 5
    words = [line for line, _ in texts(parse(picture))]
    assert {"%2 = multiply %0, %1", "alive", "6 values, at most 3 alive at the same time"} <= set(words)
    assert [word for word in words if word in "123"] == ["1", "2", "2", "3", "2", "1"]
    assert "Alive at the same time: %0 and %1, %0 and %2, %0 and %3, %2 and %3, %2 and %4." in picture.alt
    assert "%3 = c, needed until %4" in picture.alt and "%5 = add %2, %4, needed until the end" in picture.alt


def test_values_of_one_register_stand_in_one_column() -> None:
    picture = live_ranges(COLOURED)
    check_page(picture)
    root = parse(picture)
    tall = [
        shape_box(e, x, y) for e, x, y in walk(root) if e.get("class", "").startswith("tint") and e.get("rx") == "4"
    ]
    lefts = [round(box.left) for box in tall]
    assert lefts[0] == lefts[4] == lefts[5] and lefts[1] == lefts[2] and len(set(lefts)) == 3
    assert [round((box.bottom - box.top + 2) / 26) for box in tall] == [4, 1, 3, 1, 1, 1]
    words = [line for line, _ in texts(root)]
    assert {"r0", "r1", "r2", "6 values, at most 3 alive at the same time, 3 registers used"} <= set(words)
    assert "%0 = a in r0" in picture.alt


@pytest.mark.parametrize("count", [1, 2, 9, 40])
def test_programs_of_any_length_are_drawn(count: int) -> None:
    check_page(live_ranges([LiveRange(f"x{i}", count, i) for i in range(count)]))
    check_page(live_ranges([LiveRange(f"x{i}", i + 1) for i in range(count)]))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "no values"),
        ([LiveRange("a", 1), LiveRange("b", 2, 0)], "either all"),
        ([LiveRange("a", 0)], "cannot live up to place 0"),
        ([LiveRange("a", 2)], "cannot live up to place 2"),
        ([LiveRange("a", 2, 0), LiveRange("b", 2, 0)], "values 0 and 1 are alive together"),
    ],
)
def test_what_is_no_allocation_is_refused(values: list[LiveRange], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        live_ranges(values)

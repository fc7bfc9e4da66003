"""Walks through a matrix: every element that was read shows what it was, and the cache what it holds."""

from __future__ import annotations

from typing import Any

import pytest
from view_svg_checks import check_page, check_pixels, groups, legend, parse, texts, walk
from view_widgets import controls, html

from tflabs.view import Matrix, cache_walk_player
from tflabs.view.cache_walk import Read, cache_walk, walked


class Cache:
    """Direct-mapped, 64 bytes a line."""

    def __init__(self, lines: int) -> None:
        self.held: list[int | None] = [None] * lines

    def access(self, address: int) -> bool:
        number = address // 64
        hit = self.held[number % len(self.held)] == number
        self.held[number % len(self.held)] = number
        return hit


def by_rows(rows: int, columns: int) -> list[tuple[int, int]]:
    return [(row, column) for row in range(rows) for column in range(columns)]


def count(picture: Any, css: str) -> int:
    """Shapes of a class in the picture, without those of the legend."""
    root = parse(picture)
    keys = {id(e) for group, *_ in groups(root, "legend") for e in group.iter()}
    return sum(e.get("class") == css and id(e) not in keys for e, *_ in walk(root))


def test_every_read_is_a_hit_or_a_miss() -> None:
    matrix = Matrix((4, 16))
    reads, held = walked(matrix, by_rows(4, 16), Cache(2), 40)
    assert [read.hit for read in reads].count(False) == 3 and held == [2, 1]
    picture = cache_walk(matrix, reads, held, title="Read by rows")
    check_page(picture)
    check_pixels(picture)
    assert (count(picture, "hue5"), count(picture, "hue4")) == (37, 3)
    assert legend(parse(picture)) == ["hit", "miss", "edge of a cache line"]
    words = [line for line, _ in texts(parse(picture))]
    assert {"Read by rows", "40 reads: 37 hits, 3 misses", "slot 1", "line 2: row 2, columns 0–15"} <= set(words)
    assert picture.alt == (
        "A matrix of 4 × 16; 40 reads: 37 hits, 3 misses. The cache has 2 slots and holds "
        "line 2 (row 2, columns 0–15), line 1 (row 1, columns 0–15)."
    )


def test_lines_may_begin_and_end_within_rows() -> None:
    matrix = Matrix((5, 7), itemsize=8)
    assert [matrix.cells(number) for number in range(6)] == [
        "rows 0–1", "rows 1–2", "rows 2–3", "rows 3–4", "row 4, columns 4–6", "beyond the matrix",
    ]  # fmt: skip
    check_page(cache_walk(matrix, [Read(1, 1, False)], [1, None]))


def test_an_element_that_was_read_twice_shows_the_last_time() -> None:
    picture = cache_walk(Matrix((1, 2)), [Read(0, 0, False), Read(0, 0, True)])
    assert (count(picture, "hue5"), count(picture, "hue4")) == (1, 0)


@pytest.mark.parametrize(
    ("shape", "reads", "words"),
    [
        ((0, 3), [], "no elements"),
        ((2, 2), [Read(2, 0, True)], r"\(2, 0\) is not in"),
        ((2, 2), [Read(0, -1, True)], "not in"),
    ],
)
def test_what_is_no_walk_is_refused(shape: tuple[int, int], reads: list[Read], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cache_walk(Matrix(shape), reads)


def test_the_player_follows_order_size_and_slider() -> None:
    orders = {"rows": by_rows(4, 16), "columns": sorted(by_rows(4, 16), key=lambda place: place[::-1])}
    player = cache_walk_player(Matrix((4, 16)), orders, Cache, sizes=(1, 2, 4))
    found = controls(player)
    assert set(found) >= {"read by", "lines in the cache", "reads"}
    assert "64 reads: 60 hits, 4 misses" in html(player)[0]
    found["read by"].value = "columns"
    assert "64 reads: 0 hits, 64 misses" in html(player)[0]
    found["lines in the cache"].value = 4
    assert "60 hits, 4 misses" in html(player)[0]
    found["reads"].value = 0
    assert "0 reads: 0 hits, 0 misses" in html(player)[0]
    with pytest.raises(ValueError, match="at least one order"):
        cache_walk_player(Matrix((4, 16)), {}, Cache)

"""Syntax trees: leaves in the order of the text, operands below their operation, nothing on each other."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
from view_svg_checks import SVG, Box, check_page, check_pixels, parse, shape_box, texts, walk
from view_widgets import controls, html

from tflabs.view import Picture, compiler_player, syntax_tree

TREE = ("maximum", ("add", ("multiply", ("parameter", "a"), ("parameter", "b")), ("parameter", "c")), ("constant", 0.0))


def boxes(picture: Picture) -> list[Box]:
    return [
        shape_box(e, x, y) for e, x, y in walk(parse(picture)) if e.tag == f"{SVG}rect" and "tint" in e.get("class")
    ]


def test_a_tree_is_drawn_from_its_root_down() -> None:
    picture = syntax_tree(TREE, title="a*b + c max 0")
    check_page(picture)
    check_pixels(picture)
    words = dict(texts(parse(picture)))
    assert words["maximum"].bottom < words["add"].top < words["multiply"].top < words["parameter a"].top
    assert words["add"].right < words["constant 0.0"].left and words["parameter a"].right < words["parameter b"].left
    assert picture.alt == "maximum of (add of (multiply of (parameter a, parameter b), parameter c), constant 0.0)."


def random_tree(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.1:
        return ("parameter", "x" * rng.randint(1, 30))
    return (
        rng.choice(["add", "an operation with a long name"]),
        *(random_tree(rng, depth - 1) for _ in range(rng.randint(1, 3))),
    )


@pytest.mark.parametrize("seed", range(12))
def test_no_two_nodes_lie_on_each_other(seed: int) -> None:
    picture = syntax_tree(random_tree(random.Random(seed), 4))
    check_page(picture)
    for a, b in combinations(boxes(picture), 2):
        assert not a.overlaps(b)


@pytest.mark.parametrize("tree", [None, "a", (), (1, 2), ("add", ("x",), ())])
def test_what_is_no_tree_is_refused(tree: Any) -> None:
    with pytest.raises(ValueError, match="a tree is a tuple that begins with a name"):
        syntax_tree(tree)


def test_the_compiler_player_shows_the_chosen_form_of_the_text() -> None:
    def forms(text: str) -> dict[str, Picture | str]:
        if not text.isalpha():
            raise SyntaxError(f"{text!r} is no name")
        return {"text": f"<{text}>", "tree": syntax_tree(("parameter", text))}

    player = compiler_player(forms, ["a", "b"])
    found = controls(player)
    assert html(player) == ["<pre>&lt;a&gt;</pre>"]
    found["text"].value = "b"
    assert html(player) == ["<pre>&lt;b&gt;</pre>"]
    found["text"].value = "1"
    assert html(player) == ["<code>SyntaxError: '1' is no name</code>"]
    found["text"].value = "b"
    found["ToggleButtons"].value = "tree"
    assert "parameter b" in html(player)[0]
    with pytest.raises(ValueError, match="needs a text"):
        compiler_player(forms, [])

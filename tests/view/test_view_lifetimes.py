"""The lives of C objects: what is wrong with a list of calls is found, and drawn where it is."""

from __future__ import annotations

import re
from typing import Any

import pytest
import view_svg_checks as checks
from view_widgets import controls

from tflabs.view import CCall, Picture, lifetimes, lifetimes_player
from tflabs.view.lifetimes import CallsModel, Fault, Life, faults, lives

CALLS = [
    CCall("TF_NewStatus", makes=("status",)),
    CCall("TF_NewGraph", makes=("graph",)),
    CCall("TF_NewSession", makes=("session",), uses=("graph", "status")),
    CCall("TF_GetCode", uses=("status",)),
    CCall("TF_DeleteSession", uses=("status",), frees=("session",)),
    CCall("TF_DeleteGraph", frees=("graph",)),
    CCall("TF_DeleteStatus", frees=("status",)),
]


def shown(widget: Any) -> str:
    return str(re.findall(r'alt="([^"]*)"', controls(widget)["HTML"].value))


def bars(picture: Picture) -> list[checks.Box]:
    """The bars, left to right."""
    css = ("tint0", "tint4")
    found = [
        checks.shape_box(element, dx, dy)
        for element, dx, dy in checks.walk(checks.parse(picture))
        if element.get("class") in css and float(element.get("height", 0)) > 14 and element.tag.endswith("rect")
    ]
    return sorted(found, key=lambda box: box.left)


def test_it_is_a_sound_picture_with_and_without_faults() -> None:
    for calls, entries in [(CALLS, 3), (CALLS[:-1], 4), ([CCall("TF_Version")], 3)]:
        picture = lifetimes(calls, title="Lives", chosen=0)
        checks.check_page(picture)
        checks.check_pixels(picture)
        assert len(checks.legend(checks.parse(picture))) == entries


def test_a_bar_goes_from_the_call_that_makes_to_the_one_that_frees() -> None:
    picture = lifetimes(CALLS)
    rows = {words: box for words, box in checks.texts(checks.parse(picture)) if words.startswith("TF_")}
    status, graph, session = bars(picture)
    for bar, made, freed in [
        (status, "TF_NewStatus", "TF_DeleteStatus"),
        (graph, "TF_NewGraph", "TF_DeleteGraph"),
        (session, "TF_NewSession", "TF_DeleteSession"),
    ]:
        assert abs(bar.top - rows[made].top) < 8 and abs(bar.bottom - rows[freed].bottom) < 8
    assert "Every object is freed once" in picture.alt


def test_lives_and_faults() -> None:
    assert lives(CALLS)[1] == Life("graph", 1, 5, (2,))
    assert faults(CALLS) == []
    assert faults(CALLS[:-1]) == [Fault("leak", "status", None)]
    assert faults([*CALLS, CALLS[-1]]) == [Fault("double free", "status", 7)]
    assert faults([*CALLS, CALLS[3]]) == [Fault("use after free", "status", 7)]
    assert faults([CALLS[3], *CALLS]) == [Fault("use before it is made", "status", 0)]
    assert [str(fault) for fault in faults([CALLS[0], CALLS[6], CALLS[6]])] == ["double free of status in call 3"]
    assert faults([CALLS[0], CALLS[6], CALLS[0], CALLS[6]]) == []  # the same name, twice made


def test_what_something_stands_on_must_not_be_freed_before_it() -> None:
    calls = list(CALLS)
    calls[2] = CCall("TF_NewSession", makes=("session",), uses=("graph", "status"), within=("graph",))
    assert faults(calls) == []
    calls[4], calls[5] = calls[5], calls[4]
    assert faults(calls) == [Fault("early free", "graph", 4)]
    assert "Wrong: early free of graph in call 5." in lifetimes(calls).alt
    assert faults(calls[:2] + calls[3:]) == [Fault("use before it is made", "session", 4)]
    assert faults([*calls[:5], calls[4], *calls[5:]])[1:] == [Fault("double free", "graph", 5)]


def test_faults_are_marked_where_they_are() -> None:
    good, bad = lifetimes(CALLS), lifetimes([*CALLS[:5], *CALLS[6:], CALLS[3]])
    assert 'class="hue4"' not in good.svg
    assert bad.svg.count('class="hue4"') == 3  # the legend, the leak of the graph, the use after free
    assert "Wrong: use after free of status in call 7; leak of graph." in bad.alt


def test_the_player_drops_moves_and_starts_over() -> None:
    parts = controls(player := lifetimes_player(CALLS))
    assert parts["Move up"].disabled and "7 calls" in shown(player)
    parts["call"].value = 7
    assert parts["Move down"].disabled
    parts["Move up"].click()
    assert parts["call"].value == 6 and "Every object" in shown(player)
    parts["Move up"].click()
    assert "use after free of status in call 6" in shown(player)
    parts["Drop"].click()
    assert "6 calls" in shown(player) and "leak of status" in shown(player)
    parts["Start over"].click()
    assert "7 calls" in shown(player) and parts["call"].value == 1 and parts["call"].max == 7
    for _ in range(6):
        parts["Drop"].click()
    assert parts["Drop"].disabled and parts["Move up"].disabled and parts["Move down"].disabled


def test_the_last_call_can_be_dropped_and_no_calls_are_refused() -> None:
    model = CallsModel(CALLS)
    model.chosen = 6
    model.drop()
    assert model.chosen == 5
    with pytest.raises(ValueError, match="no calls"):
        lifetimes([])
    with pytest.raises(ValueError, match="no calls"):
        lifetimes_player([])

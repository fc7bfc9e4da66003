"""`hlo`: programs that XLA printed, read and drawn."""

from __future__ import annotations

import re

import pytest
from view_svg_checks import check_arrows, check_page, check_pixels, edges, groups, node_boxes, parse, texts

from tflabs.view import hlo
from tflabs.view.hlo import read_program
from tflabs.view.hlo_text import parse_hlo

NAMES = ("dense", "softmax", "fma_chain")


def instructions_of(text: str, head: str) -> list[str]:
    """Names of the instructions in the computation that a line beginning with `head` opens."""
    block = re.search(rf"^{head}.*?^}}", text, re.MULTILINE | re.DOTALL)[0]
    return re.findall(r"^\s+(?:ROOT )?%(\S+) = ", block, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_is_read(programs, name):
    for stage in ("hlo", "optimized_hlo"):
        text = programs[name][stage]
        module = parse_hlo(text)
        assert [i.name for i in module.entry.instructions] == instructions_of(text, "ENTRY")
        assert len(module.computations) == text.count("\n}")
        assert module.scheduled == (stage == "optimized_hlo")
        for computation in module.computations.values():
            known = set()
            for instruction in computation.instructions:
                assert set(instruction.operands) <= known, "operands stand before their use"
                known.add(instruction.name)


@pytest.mark.parametrize("name", NAMES)
def test_before_and_after(programs, name):
    texts_of = programs[name]
    picture = hlo(texts_of["hlo"], texts_of["optimized_hlo"], title=name)
    check_page(picture)
    before, after = (len(instructions_of(texts_of[s], "ENTRY")) for s in ("hlo", "optimized_hlo"))
    fusions = len(re.findall(r" fusion\(", texts_of["optimized_hlo"]))
    words = [w for w, _ in texts(parse(picture))]
    assert f"before: {before} instructions, 0 fusions" in words
    found = [w for w in words if w.startswith("after: ")]
    assert len(found) == 1
    assert found[0].startswith(f"after: {after} instructions, {fusions} fusion")
    assert found[0] in picture.alt


def test_the_chain_is_one_kernel_and_dense_is_two(programs):
    kernels = {name: read_program(parse_hlo(programs[name]["optimized_hlo"])).kernels for name in NAMES}
    assert kernels["fma_chain"] == 1
    assert kernels["dense"] == 2  # the dot, and one fusion
    assert read_program(parse_hlo(programs["dense"]["hlo"])).kernels is None


@pytest.mark.parametrize("name", NAMES)
def test_fusions_are_boxes_around_their_instructions(programs, name):
    text = programs[name]["optimized_hlo"]
    picture = hlo(text)
    check_arrows(picture)
    root = parse(picture)
    frames = {g.get("data-name") for g, _, _ in groups(root, "frame")}
    module = parse_hlo(text)
    fusions = [i for i in module.entry.instructions if i.opcode == "fusion"]
    assert frames == {i.name for i in fusions}
    drawn = node_boxes(root)
    for fusion in fusions:
        inner = module.computations[fusion.attributes["calls"]].instructions
        expected = {f"{fusion.name}/{i.name}" for i in inner if i.opcode != "parameter"}
        assert expected == {n for n in drawn if n.startswith(f"{fusion.name}/")}
    assert all(e["data-tail"] in drawn and e["data-head"] in drawn for e in edges(root))


LOOP = """HloModule loop, is_scheduled=true

%body (p: (s32[], f32[2])) -> (s32[], f32[2]) {
  %p = (s32[], f32[2]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one), metadata={op_name="a, (b" source_line=3}
  %x = f32[2]{0} get-tuple-element(%p), index=1
  ROOT %t = (s32[], /*index=1*/f32[2]{0}) tuple(%next, %x)
}

%condition (q: (s32[], f32[2])) -> pred[] {
  %q = (s32[], f32[2]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %ten = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %ten), direction=LT
}

ENTRY %main (a: f32[2]) -> (s32[], f32[2]) {
  %zero = s32[] constant(0)
  %c = f32[2,2]{1,0} constant({
    { 1, 2 },
    { 3, 4 }
  })
  %a = f32[2]{0} parameter(0)
  %init = (s32[], f32[2]{0}) tuple(%zero, %a)
  ROOT %w = (s32[], f32[2]{0}) while(%init), condition=%condition, body=%body
}
"""


def test_loops_bring_their_computations_along():
    picture = hlo(LOOP)
    check_page(picture)
    root = parse(picture)
    assert {g.get("data-name") for g, _, _ in groups(root, "frame")} == {"body", "condition"}
    assert {"body/next", "condition/less", "w"} <= node_boxes(root).keys()
    program = read_program(parse_hlo(LOOP))
    assert program.kernels == 2  # add and compare; the while itself runs none
    entry = parse_hlo(LOOP).entry
    assert [i.name for i in entry.instructions] == ["zero", "c", "a", "init", "w"]
    assert entry.root.attributes == {"condition": "condition", "body": "body"}
    assert entry.root.shape == "(s32[], f32[2])"


def test_what_is_no_hlo_is_refused():
    with pytest.raises(ValueError, match="HloModule"):
        hlo("digraph {}")
    with pytest.raises(ValueError, match="ENTRY"):
        hlo("HloModule m\n")
    with pytest.raises(TypeError, match="bytes"):
        hlo(b"HloModule m")


def test_long_programs_are_grouped():
    lines = ["  %a0 = f32[] parameter(0)"]
    lines += [f"  {'ROOT ' if i == 299 else ''}%a{i} = f32[] negate(%a{i - 1})" for i in range(1, 300)]
    picture = hlo("HloModule m\n\nENTRY %main (a0: f32[]) -> f32[] {\n" + "\n".join(lines) + "\n}\n")
    check_page(picture)
    assert "300 instructions" in picture.alt
    assert len(node_boxes(parse(picture))) <= 80


def test_pixels(programs):
    check_pixels(hlo(programs["softmax"]["hlo"], programs["softmax"]["optimized_hlo"]))

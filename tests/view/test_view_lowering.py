"""`view.lowering`: a function in all its forms, and the op that lights up in each."""

from __future__ import annotations

import platform
import re
import struct
import sys
from typing import Any
from xml.etree import ElementTree

import pytest

from tflabs.runtime import quiet

with quiet():
    import tensorflow as tf

from tflabs.view.lowering import STAGES, Calls, Kernel, Lowered, disassemble, kernels, lowering, lowering_stage
from tflabs.view.text import text_width

HLO = """HloModule small, entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}

ENTRY %main (x.1: f32[4], y.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0), metadata={op_name="XLA_Args"}
  %y.1 = f32[4]{0} parameter(1), metadata={op_name="XLA_Args"}
  %add.1 = f32[4]{0} add(f32[4]{0} %x.1, f32[4]{0} %y.1), metadata={op_type="AddV2" op_name="add"}
  %zero.1 = f32[] constant(0), metadata={op_type="Relu" op_name="Relu"}
  %zeros.1 = f32[4]{0} broadcast(f32[] %zero.1), dimensions={}, metadata={op_type="Relu" op_name="Relu"}
  ROOT %relu.1 = f32[4]{0} maximum(f32[4]{0} %add.1, f32[4]{0} %zeros.1), metadata={op_type="Relu" op_name="Relu"}
}
"""
OPTIMIZED = """HloModule small, is_scheduled=true, entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}

%fused (p.0: f32[4], p.1: f32[4]) -> f32[4] {
  %p.0 = f32[4]{0} parameter(0)
  %p.1 = f32[4]{0} parameter(1)
  %add.0 = f32[4]{0} add(%p.0, %p.1), metadata={op_type="AddV2" op_name="add"}
  %zero.0 = f32[] constant(0), metadata={op_type="Relu" op_name="Relu"}
  %zeros.0 = f32[4]{0} broadcast(%zero.0), dimensions={}, metadata={op_type="Relu" op_name="Relu"}
  ROOT %relu.0 = f32[4]{0} maximum(%add.0, %zeros.0), metadata={op_type="Relu" op_name="Relu"}
}

ENTRY %main (x.1: f32[4], y.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0), metadata={op_name="XLA_Args"}
  %y.1 = f32[4]{0} parameter(1), metadata={op_name="XLA_Args"}
  ROOT %add_maximum_fusion = f32[4]{0} fusion(%x.1, %y.1), kind=kLoop, calls=%fused, metadata={op_name="Relu"}
}
"""
LLVM = """%XLA_CPU_KernelArg = type { ptr, i64 }

define ptr @add_maximum_fusion(ptr %0) #0 {
  call void @add_maximum_fusion_wrapped(ptr %5)
  ret ptr null
}

; Function Attrs: alwaysinline
define internal void @add_maximum_fusion_wrapped(ptr noalias align 64 %0) #1 {
  br label %7

7:                                                ; preds = %6
  %19 = load float, ptr %18, align 4, !invariant.load !3
  %22 = fadd float %19, %21
  %23 = fcmp uge float %22, 0.000000e+00
  %24 = select i1 %23, float %22, float 0.000000e+00
  ret void
}
"""
ASSEMBLY = ((0, "push", "rbp"), (1, "vaddps", "ymm0, ymm1, ymm2"), (5, "vmaxps", "ymm0, ymm3, ymm0"), (9, "ret", ""))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def lowered() -> Lowered:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [4], name="x")
        y = tf.compat.v1.placeholder(tf.float32, [4], name="y")
        tf.nn.relu(tf.add(x, y, name="add"), name="Relu")
    return Lowered(graph.as_graph_def(), HLO, OPTIMIZED, {"add_maximum_fusion": Kernel(LLVM, ASSEMBLY)})


def lit(svg: str) -> dict[str, set[str]]:
    """Hue classes of what is lit, by its name: cards by their node, lines by the text of their first column."""
    found: dict[str, set[str]] = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if group.get("class") not in ("node", "line"):
            continue
        hues = {e.get("class", "") for e in group.iter() if re.fullmatch(r"hue\d", e.get("class", ""))}
        words = [e.text or "" for e in group.iter(f"{SVG}text")]
        if hues:
            found[group.get("data-name") or " ".join(words)] = hues
    return found


def test_an_op_has_one_colour_in_every_stage(lowered: Lowered) -> None:
    wanted = {
        "graph": {"add": {"hue0"}, "Relu": {"hue1"}},
        "hlo": {
            "add.1 = f32[4] add(x.1, y.1)": {"hue0"},
            "zero.1 = f32[] constant(0)": {"hue1"},
            "zeros.1 = f32[4] broadcast(zero.1), dimensions={}": {"hue1"},
            "ROOT relu.1 = f32[4] maximum(add.1, zeros.1)": {"hue1"},
        },
        "optimized_hlo": {
            "add_maximum_fusion/add.0": {"hue0"},
            "add_maximum_fusion/zero.0": {"hue1"},
            "add_maximum_fusion/zeros.0": {"hue1"},
            "add_maximum_fusion/relu.0": {"hue1"},
        },
        "llvm": {
            "%22 = fadd float %19, %21": {"hue0"},
            "%23 = fcmp uge float %22, 0.000000e+00": {"hue1"},
            "%24 = select i1 %23, float %22, float 0.000000e+00": {"hue1"},
        },
        "assembly": {"1 vaddps ymm0, ymm1, ymm2": {"hue0"}, "5 vmaxps ymm0, ymm3, ymm0": {"hue1"}},
    }
    assert {stage: lit(lowering_stage(lowered, stage).svg) for stage in STAGES} == wanted


def test_only_chosen_ops_are_lit(lowered: Lowered) -> None:
    assert lit(lowering_stage(lowered, "graph", ops=["Relu"]).svg) == {"Relu": {"hue1"}}
    assert lit(lowering_stage(lowered, "assembly", ops=["add"]).svg) == {"1 vaddps ymm0, ymm1, ymm2": {"hue0"}}


@pytest.mark.parametrize("stage", STAGES)
def test_the_words_say_what_the_colours_say(lowered: Lowered, stage: str) -> None:
    picture = lowering_stage(lowered, stage, ops=["add"])
    assert picture.alt.startswith(STAGES[stage])
    assert "From add: " in picture.alt
    assert "nothing here" not in picture.alt


@pytest.mark.parametrize("stage", STAGES)
def test_no_text_leaves_the_picture(lowered: Lowered, stage: str) -> None:
    picture = lowering_stage(lowered, stage)
    for group in ElementTree.fromstring(picture.svg).iter(f"{SVG}g"):
        if group.get("class") == "line":
            for text in group.iter(f"{SVG}text"):
                right = float(text.get("x", 0)) + text_width(text.text or "", float(text.get("font-size", 0)))
                assert right <= picture.size[0] - 32


def test_the_function_that_unpacks_arguments_is_left_out(lowered: Lowered) -> None:
    assert "call void" not in lowering_stage(lowered, "llvm").svg


def test_an_op_without_a_kernel_says_so(lowered: Lowered) -> None:
    bare = Lowered(lowered.graph, lowered.hlo, lowered.optimized_hlo)
    assert "add became add_maximum_fusion" in lowering_stage(bare, "llvm", ops=["add"]).alt


def test_a_line_that_may_be_the_work_of_two_ops_stays_plain(lowered: Lowered) -> None:
    both = OPTIMIZED.replace(
        "%zeros.0 = f32[4]{0} broadcast(%zero.0), dimensions={}", "%zeros.0 = f32[4]{0} add(%p.0, %p.0)"
    )
    picture = lowering_stage(Lowered(lowered.graph, HLO, both, lowered.kernels), "assembly")
    assert lit(picture.svg) == {"5 vmaxps ymm0, ymm3, ymm0": {"hue1"}}


def test_a_long_listing_is_cut_and_says_so(lowered: Lowered) -> None:
    kernel = Kernel(LLVM, ASSEMBLY * 50)
    picture = lowering_stage(Lowered(lowered.graph, HLO, OPTIMIZED, {"add_maximum_fusion": kernel}), "assembly")
    assert "The first 160 of 200 lines." in picture.alt
    assert picture.svg.count('class="line"') == 160


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stage": "mlir"}, "no stage 'mlir'"),
        ({"stage": "graph", "ops": ["Tanh"]}, "no instruction comes from Tanh"),
        ({"stage": "llvm", "kernel": "k"}, "no kernel 'k'"),
    ],
)
def test_what_is_not_there_is_refused(lowered: Lowered, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lowering_stage(lowered, **arguments)


def elf(code: bytes, machine: int) -> bytes:
    """A little-endian ELF-64 object with one section without and one with code."""
    header = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 1, machine, 1, 0, 0, 64, 0, 64, 0, 0, 64, 2, 0)
    )
    data = struct.pack("<IIQQQQIIQQ", 0, 1, 0x2, 0, 64, 64, 0, 0, 1, 0)
    text = struct.pack("<IIQQQQIIQQ", 0, 1, 0x6, 0, 192, len(code), 0, 0, 1, 0)
    return header + data + text + code


def test_machine_code_is_read_from_object_files() -> None:
    x86 = disassemble(elf(bytes.fromhex("c5f458c2c3"), 62))
    assert x86 == ((0, "vaddps", "ymm0, ymm1, ymm2"), (4, "ret", ""))
    assert disassemble(elf(bytes.fromhex("20d4224ec0035fd6"), 183)) == (
        (0, "fadd", "v0.4s, v1.4s, v2.4s"),
        (4, "ret", ""),
    )
    assert disassemble(elf(b"\xc3", 243)) == ()
    assert disassemble(b"\xcf\xfa\xed\xfe") == ()
    assert disassemble(b"") == ()


def test_kernels_are_found_by_the_names_of_files() -> None:
    stem = "module_0003.a_inference_f_1__.3"
    files = {
        f"{stem}.before_optimizations.txt": b"",
        f"{stem}.wrapped_reduce.1_kernel_module.ir-no-opt.ll": LLVM.encode(),
        f"{stem}.wrapped_reduce.1_kernel_module.ir-with-opt.ll": b"",
        f"{stem}.obj-file.wrapped_reduce.1_kernel_module.o": elf(b"\xc3", 62),
    }
    assert kernels(files) == {"wrapped_reduce.1": Kernel(LLVM, ((0, "ret", ""),))}
    other = {name.replace("0003", "0004"): content for name, content in files.items()}
    with pytest.raises(ValueError, match=r"two modules have a kernel 'wrapped_reduce\.1'"):
        kernels(files | other)
    with pytest.raises(ValueError, match="there is no kernel here"):
        kernels({"x.txt": b""})


class Traced:
    """Stands for a `tf.function` that makes a trace for each new argument."""

    def __init__(self) -> None:
        self.seen: set[object] = set()

    def __call__(self, argument: object) -> None:
        self.seen.add(argument)

    def experimental_get_tracing_count(self) -> int:
        return len(self.seen)


def test_calls_say_whether_a_trace_was_made() -> None:
    calls = Calls(Traced(), {"one": (1,), "two": (2,)})
    assert calls.html == "no call yet"
    assert [calls.call(label) for label in ("one", "two", "one")] == [True, True, False]
    assert calls.made == [("one", True, 1), ("two", True, 2), ("one", False, 2)]
    last = re.findall(r"<td[^>]*>([^<]*)</td>", calls.html)[-4:]
    assert last == ["3", "one", "a trace that it had", "2"]


def test_the_player_follows_its_controls(lowered: Lowered) -> None:
    player = lowering(lowered, function=Traced(), arguments={"one": (1,)})
    controls, words, image, calls = player.children
    slider, choice = controls.children
    assert 'alt="Traced graph.' in image.value
    slider.value, choice.value = "optimized_hlo", "add"
    assert 'alt="Optimised HLO' in image.value
    assert words.value == "add: 1 instruction of HLO; in the optimised module part of add_maximum_fusion"
    _, row, table = calls.children
    for _ in range(2):
        row.children[1].click()
    assert table.value.count("a new trace") == 1
    assert table.value.count("a trace that it had") == 1


def classify() -> None:
    """Calls a compiled function, in a process of its own."""

    @tf.function(jit_compile=True)
    def layer(x: Any, w: Any, b: Any, v: Any) -> Any:
        return tf.matmul(tf.nn.relu(tf.matmul(x, w) + b), v)

    layer(tf.ones([64, 16]), tf.ones([16, 48]), tf.ones([48]), tf.ones([48, 10]))


@pytest.mark.skipif(sys.platform != "linux", reason="object files are read on Linux")
def test_a_function_that_xla_compiled_is_followed_to_its_instructions() -> None:
    from tflabs.runtime import xla_dump

    dump = xla_dump(classify)
    with tf.Graph().as_default() as graph:
        x, w, b, v = (tf.compat.v1.placeholder(tf.float32, shape) for shape in ([64, 16], [16, 48], [48], [48, 10]))
        tf.matmul(tf.nn.relu(tf.add(tf.matmul(x, w), b, name="add")), v)
    texts = [dump.text(suffix) for suffix in (".before_optimizations.txt", ".cpu_after_optimizations.txt")]
    real = Lowered(graph.as_graph_def(), *texts, kernels(dump.files))
    lines = lit(lowering_stage(real, "assembly").svg)
    names = {"x86_64": ("addps", "maxps"), "aarch64": ("fadd", "fmax")}[platform.machine()]
    added, largest = (
        {hue for line, hues in lines.items() if part in line.split()[1] for hue in hues} for part in names
    )
    assert added == {"hue1"}
    assert largest == {"hue2"}
    assert any("fadd" in line for line in lit(lowering_stage(real, "llvm", ops=["add"]).svg))

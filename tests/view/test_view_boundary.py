"""The picture of a stack across the boundary: what is on it is what ran, and Python's ends are marked."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
import view_svg_checks as checks

from tflabs.view import Band, NativeFrame, boundary, call_stack, native_stack
from tflabs.view.boundary import bands

STACK = [
    Band("Python", "session.py", ("run", "_call_tf_sessionrun")),
    Band("binding", "_pywrap_tf_session.so", (None, None)),
    Band("C API", "libtensorflow_cc.so.2", ("TF_SessionRun",)),
    Band("C++", "libtensorflow_framework.so.2", ("tensorflow::Executor::Run", None, "tensorflow::Op::Compute")),
    Band("Python", "script_ops.py", ("__call__",)),
]


def test_it_is_a_sound_picture() -> None:
    picture = boundary(STACK, title="One call")
    checks.check_page(picture)
    checks.check_pixels(picture)
    assert checks.legend(checks.parse(picture)) == ["Python", "binding", "C API", "C++"]


def test_bands_stand_in_the_order_of_the_calls_and_say_what_has_no_name() -> None:
    picture = boundary(STACK)
    height = {words: box.top for words, box in checks.texts(checks.parse(picture))}
    rows = [
        *("session.py", "run", "_call_tf_sessionrun", "Python ends", "_pywrap_tf_session.so"),
        *("2 frames without an exported name", "TF_SessionRun", "tensorflow::Executor::Run"),
        *("1 frame without an exported name", "tensorflow::Op::Compute", "Python begins again", "__call__"),
    ]
    tops = [height[words] for words in rows]
    assert tops == sorted(tops)
    assert picture.alt.startswith(
        "A stack of 5 bands, the outermost caller first. session.py (Python): run, _call_tf_sessionrun. "
        "_pywrap_tf_session.so (binding): 2 frames without an exported name."
    )


def test_python_takes_the_place_of_the_interpreter() -> None:
    native = [
        NativeFrame("libc.so.6", "__libc_start_main"),
        NativeFrame("_asyncio.so", None),  # an earlier entry of the interpreter, which is left out
        NativeFrame("libpython3.11.so.1.0", "_PyEval_EvalFrameDefault"),
        NativeFrame("libpython3.11.so.1.0", None),
        NativeFrame("_pywrap_tf_session.so", None),
        NativeFrame("libtensorflow_cc.so.2", "TF_SessionRun"),
        NativeFrame("libtensorflow_cc.so.2", "tensorflow::DirectSession::Run"),
        NativeFrame("libpython3.11.so.1.0", "_PyObject_Call"),
    ]
    assert bands([[("cell", "<module>"), ("session.py", "run")], [("script_ops.py", "__call__")]], native) == [
        Band("Python", "cell", ("<module>",)),
        Band("Python", "session.py", ("run",)),
        Band("binding", "_pywrap_tf_session.so", (None,)),
        Band("C API", "libtensorflow_cc.so.2", ("TF_SessionRun",)),
        Band("C++", "libtensorflow_cc.so.2", ("tensorflow::DirectSession::Run",)),
        Band("Python", "script_ops.py", ("__call__",)),
    ]
    assert bands([], native) == []
    with pytest.raises(ValueError, match="3 times, and Python's frames have 4 parts"):
        bands([[]] * 4, native)


def test_a_callback_of_the_c_library_is_on_the_stack() -> None:
    """`qsort` calls back into Python: the stack holds Python, the C library, and Python again."""
    seen: list[list[NativeFrame]] = []
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def note(a: int, b: int) -> int:
        seen.append(native_stack())
        return 0

    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(), ctypes.c_size_t(2), ctypes.c_size_t(4), compare(note))
    assert any("qsort" in (frame.function or "") for frame in seen[0])
    assert any("python" in frame.library for frame in seen[0])


def test_the_way_of_a_step_lies_on_one_stack(tf: Any) -> None:
    seen = []

    def look(value: Any) -> Any:
        seen.append(call_stack())
        return value

    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        tf.numpy_function(look, [x], tf.float32, name="y")
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=-1)
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        session.run("y:0", {"x:0": 1.0})
    names = [name for band in seen[0] for name in band.functions]
    order = ["_call_tf_sessionrun", "TF_SessionRun", "tensorflow::DirectSession::RunInternal"]
    order += ["tensorflow::PyFuncOp::Compute", "look"]
    assert [name for name in names if name in order] == order
    binding = [band.where for band in seen[0] if band.language == "binding"]
    assert binding == ["_pywrap_tf_session.so"]
    checks.check_page(boundary(seen[0]))


def test_an_empty_stack_and_a_strange_language_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        boundary([])
    with pytest.raises(ValueError, match="'Fortran' is none of"):
        boundary([Band("Fortran", "lapack.f", ("dgemm",))])

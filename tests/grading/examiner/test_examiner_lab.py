"""With TensorFlow: its values cross, and the lab 2-2-session is judged by the examiner as it is in the notebook."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from examiner_rig import Rig, rig

from tflabs.authoring.answers import read_answers
from tflabs.course.build import read_source
from tflabs.course.lab import Lab, role
from tflabs.course.layout import Course
from tflabs.grading.examiner.marks import judged_in_kernel
from tflabs.grading.examiner.report import CellResult

LAB = "2-2-session"


@pytest.fixture(scope="module")
def lab(real_course: Course) -> Lab:
    return read_source(real_course, LAB)


@pytest.fixture(scope="module")
def room(lab: Lab) -> Iterator[Rig]:
    """The lab's given cells on both sides, its solutions in the kernel."""
    with rig("tensorflow") as made:
        made.learner("import tensorflow")  # while the examiner does the same
        for cell in lab.notebook.cells:
            if role(cell) == "given":
                made.given(cell.source)
            elif role(cell) == "solution":
                made.learner(cell.source)
        yield made


def judge(room: Rig, lab: Lab, exercise: str) -> list[CellResult]:
    return [room.test(test.source, call_seconds=30) for test in lab.exercise(exercise).tests]


def names(lab: Lab) -> list[str]:
    return [e.id for e in lab.exercises if not any(judged_in_kernel(test.source) for test in e.tests)]


def test_the_solutions_get_full_points(room: Rig, lab: Lab) -> None:
    assert len(names(lab)) >= 6
    for exercise in names(lab):
        for result in judge(room, lab, exercise):
            assert result.state == "ok" and result.called, result


def test_right_answers_pass_and_wrong_ones_do_not(room: Rig, lab: Lab, real_course: Course) -> None:
    """One of each kind for the cheap exercises, and those that call what is withheld."""
    answers = read_answers(real_course.answers(LAB), lab)
    tried = 0
    for exercise in ("hit-or-miss", "pack", "interactive"):
        mine = [answer for answer in answers if answer.exercise == exercise]
        right, wrong = ([a for a in mine if a.is_right is is_right] for is_right in (True, False))
        barred = [a for a in wrong[1:] if "tf.nest" in a.source or "tf1.InteractiveSession" in a.source]
        for answer in right[:1] + wrong[:1] + barred:
            room.learner(answer.source)
            results = judge(room, lab, exercise)
            assert all(result.state == "ok" for result in results) is answer.is_right, (answer.why, results)
            if answer in barred:
                assert any("withheld" in result.evalue for result in results), results
            tried += 1
        room.learner(lab.exercise(exercise).solution)
    assert tried >= 8


def test_what_is_withheld_is_withheld_in_the_learners_process_alone(room: Rig) -> None:
    room.learner("def reaches():\n    return tf.nest.flatten([1, [2]])")
    result = room.test(
        """
with withheld("tensorflow.nest.flatten"):
    assert tf.nest.flatten([1, [2]]) == [1, 2]
    try: reaches()
    except RuntimeError as error: assert "withheld" in str(error)
    else: raise AssertionError("it answered")
assert reaches() == [1, 2]
try:
    with withheld("tensorflow.no_such_name"): pass
except AttributeError: pass
else: raise AssertionError
"""
    )
    assert result.state == "ok", result
    assert (
        room.test("with withheld('tensorflow.nest.flatten'):\n    while True: pass", cell_seconds=0.5).state
        == "timeout"
    )
    assert room.test("assert reaches() == [1, 2]").state == "ok"
    assert room.test("with withheld('tensorflow.nest.flatten'): pass").called is False


def test_values_of_tensorflow_cross(room: Rig) -> None:
    room.learner(
        """
def same(x): return x
def kinds(*xs): return [type(x).__name__ for x in xs]
def product(a, b): return a @ b
def refuses(): raise tf.errors.InvalidArgumentError(None, None, "no such node")
def graph_now(): return tf1.get_default_graph() is tf1.get_default_graph()
def symbolic(f):
    with tf.Graph().as_default() as g:
        f(tf.constant(1.0), name="y")
    return g.as_graph_def()
def live(): return tf.Graph()
"""
    )
    result = room.test(
        """
for value in [tf.constant([[1.5, 2.0]]), tf.constant([b"a", b"bc"]), tf.constant(b"x"), tf.cast([1, 2], tf.bfloat16),
              tf.zeros([0, 3], tf.int8), tf.constant([True]), tf.constant(1 + 2j)]:
    got = same(value)
    assert tf.is_tensor(got) and got.dtype == value.dtype and got.shape == value.shape
    assert np.asarray(got.numpy()).tolist() == np.asarray(value.numpy()).tolist()
shapes = [tf.TensorShape(None), tf.TensorShape([None, 3])]
for value in [tf.float32, tf.bfloat16, *shapes, tf.TensorSpec([2, None], tf.int32, "s")]:
    got = same(value)
    assert type(got) is type(value) and repr(got) == repr(value)
for message in [small_graph().as_graph_def(), tf1.ConfigProto(allow_soft_placement=True), six_nodes().node[0]]:
    got = same(message)
    assert type(got) is type(message) and got == message
eager = tf.constant([1.0])
with tf.Graph().as_default() as drawn:
    assert same(eager).numpy() == 1.0 and not drawn.get_operations(), "a value, also while a graph is built"
assert kinds(tf.constant(1), np.float32(2), tf.float32) == ["EagerTensor", "float32", "DType"]
assert symbolic(tf.sin).node[-1].op == "Sin", "a function of TensorFlow's is called over there"
try: refuses()
except tf.errors.InvalidArgumentError as error: assert error.message == "no such node"
else: raise AssertionError
"""
    )
    assert result.state == "ok", result
    for source, ename in [
        ("same(tf.Graph())", "CannotCross"),
        ("same(tf1.placeholder)", ""),
        ("same(small_graph().as_graph_def().node)", "CannotCross"),
        ("assert live() == 1", "LiveObjectError"),
    ]:
        assert room.test(source).ename == ename, source

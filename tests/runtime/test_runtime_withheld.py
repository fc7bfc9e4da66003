"""withheld() on TensorFlow's own names."""

import gc
import sys
import threading
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow import gradients  # an alias of before

from tflabs.runtime import withheld, withholding

tf1 = tf.compat.v1
Session, v2_gradients, variable, function = tf1.Session, tf.gradients, tf.Variable, tf.function


class MySession(tf1.Session):
    def __init__(self) -> None:
        super().__init__()


class InheritingSession(tf1.Session):
    pass


def stopped(name: str, call: Callable[..., Any], *args: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(*args)
    assert str(caught.value) == f"build this yourself: {name} is withheld here"


def gradient() -> list[tf.Tensor]:
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [])
        return gradients(x * x, x)


def make_variable() -> tf.Variable:
    with tf.Graph().as_default():
        return tf1.get_variable("v", [1])


def make_ref_variable() -> tf.Variable:
    with tf.Graph().as_default():
        return tf1.get_variable("v", [1], use_resource=False)


def count() -> list[int]:
    return [int(x) for x in tf.data.Dataset.range(3)]


def test_functions_with_all_aliases() -> None:
    with withheld("tensorflow.gradients", "tensorflow.function"):
        for alias in (gradients, v2_gradients, tf.gradients):
            stopped("tensorflow.gradients", alias, 1, 2)
        stopped("tensorflow.gradients", gradient)
        stopped("tensorflow.function", function, gradient)
        stopped("tensorflow.function", lambda: tf.function(jit_compile=True))
    assert len(gradient()) == 1
    assert tf.function(lambda x: x + 1)(1).numpy() == 2
    assert gradients is tf.gradients


def test_functions_that_are_traced_already_still_run() -> None:
    f = tf.function(lambda x: x + 1)
    f(tf.constant(1))
    with withheld("tensorflow.function"):
        assert f(tf.constant(1)).numpy() == 2


def test_names_of_compat_v1_are_others() -> None:
    assert tf1.gradients is not tf.gradients
    with withheld("tensorflow.compat.v1.gradients"):
        stopped("tensorflow.compat.v1.gradients", tf1.gradients, 1, 2)
        assert len(gradient()) == 1


def test_session_and_subclasses_but_not_interactive_session() -> None:
    name = "tensorflow.compat.v1.Session"
    with withheld(name), tf.Graph().as_default():
        for cls in (Session, tf1.Session, MySession, InheritingSession):
            stopped(name, cls)

        class Later(Session):
            pass

        stopped(name, Later)
        tf1.InteractiveSession().close()
    with withheld("tensorflow.compat.v1.InteractiveSession"), tf.Graph().as_default():
        stopped("tensorflow.compat.v1.InteractiveSession", tf1.InteractiveSession)
        Session().close()
    with tf.Graph().as_default(), MySession() as session:
        assert session.run(tf.constant(3)) == 3


def test_nothing_is_left_on_stderr(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with withheld("tensorflow.compat.v1.Session"):
        stopped("tensorflow.compat.v1.Session", tf1.Session)
    gc.collect()
    assert unraisable == []
    assert capfd.readouterr().err == ""


def test_a_method_is_withheld_for_the_classes_that_share_it() -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        three = tf.constant(3)
        with withheld("tensorflow.compat.v1.Session.run"):
            stopped("tensorflow.compat.v1.Session.run", session.run, three)
            stopped("tensorflow.compat.v1.Session.run", three.eval)
        assert session.run(three) == 3
    with withheld("tensorflow.data.Dataset.from_tensors", "tensorflow.TensorShape.merge_with"):
        stopped("tensorflow.data.Dataset.from_tensors", tf.data.Dataset.from_tensors, 1)
        stopped("tensorflow.TensorShape.merge_with", tf.TensorShape([1]).merge_with, [1])
    with withheld("tensorflow.compat.v1.train.Saver.from_proto"):
        stopped("tensorflow.compat.v1.train.Saver.from_proto", tf1.train.Saver.from_proto, None)


def test_variables_of_every_kind() -> None:
    with withheld("tensorflow.Variable"):
        for make in (lambda: tf.Variable(1.0), lambda: variable(1.0), make_variable, make_ref_variable):
            stopped("tensorflow.Variable", make)
    with withheld("tensorflow.compat.v1.Variable"):
        stopped("tensorflow.compat.v1.Variable", make_ref_variable)
        assert tf.Variable(1.0).numpy() == 1.0
    assert tf.Variable(2.0).numpy() == 2.0
    assert make_variable().shape == make_ref_variable().shape == [1]


def test_objects_that_exist_already_still_work() -> None:
    v = tf.Variable(1.0)
    with tf.Graph().as_default(), tf1.Session() as session:
        three = tf.constant(3)
        with withheld("tensorflow.Variable", "tensorflow.compat.v1.Session"):
            assert session.run(three) == 3
    with withheld("tensorflow.Variable"):
        assert (v + 1.0).numpy() == 2.0
        stopped("tensorflow.Variable", v.assign_add, 1.0)  # its value is a new variable object (_UnreadVariable)


def test_a_module_is_all_that_is_public_in_it() -> None:
    with withheld("tensorflow.raw_ops", "tensorflow.data", "tensorflow.linalg"):
        stopped("tensorflow.raw_ops.MatMul", lambda: tf.raw_ops.MatMul(a=1, b=2))
        stopped("tensorflow.data.Dataset", count)
        stopped("tensorflow.data.experimental.dense_to_ragged_batch", tf.data.experimental.dense_to_ragged_batch, 2)
        stopped("tensorflow.linalg.matmul", lambda: tf.ones([2, 2]) @ tf.ones([2, 2]))
        assert (tf.constant(1) + 1).numpy() == 2
    assert count() == [0, 1, 2]
    np.testing.assert_array_equal(tf.ones([2, 2]) @ tf.ones([2, 2]), np.full((2, 2), 2.0, np.float32))
    assert tf.raw_ops.Neg(x=1.0).numpy() == -1.0


def test_every_public_class_of_tensorflow_comes_back() -> None:
    """Attributes of classes and code of functions are the same objects before and after."""

    def state() -> dict[str, Any]:
        found = {}
        for module in (tf, tf1, tf.train, tf1.train, tf.data, tf.nn):
            for name in dir(module):
                member = getattr(module, name)
                if isinstance(member, type):
                    found[f"{module.__name__}.{name}"] = (member, dict(vars(member)), type(member).__call__)
                elif hasattr(member, "__code__"):
                    found[f"{module.__name__}.{name}"] = (member, member.__code__)
        return found

    before = state()
    names = (
        "tensorflow.train",
        "tensorflow.compat.v1.train",
        "tensorflow.data",
        "tensorflow.nn",
        "tensorflow.Variable",
    )
    with withheld(*names, "tensorflow.compat.v1.GraphDef", "tensorflow.DType", "tensorflow.Graph"):
        stopped("tensorflow.compat.v1.GraphDef", tf1.GraphDef)
        assert state() != before
    after = state()
    assert before.keys() == after.keys()
    assert [name for name in before if before[name] != after[name]] == []
    assert tf1.GraphDef(node=[tf1.NodeDef(name="x")]).node[0].name == "x"


def test_a_tf_function_object(monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)("module_of_a_lab")
    f = module.f = tf.function(lambda x: x + 1)
    monkeypatch.setitem(sys.modules, "module_of_a_lab", module)
    assert f(tf.constant(1)).numpy() == 2
    with withheld("module_of_a_lab.f"):
        stopped("module_of_a_lab.f", f, tf.constant(1))
    assert f(tf.constant(1)).numpy() == 2


def test_functions_written_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    before = zlib.crc32
    monkeypatch.setattr(sys.modules["__main__"], "my_alias", before, raising=False)
    with withheld("zlib.crc32", "numpy.linalg.svd"):
        stopped("zlib.crc32", zlib.crc32, b"")
        stopped("zlib.crc32", sys.modules["__main__"].my_alias, b"")
        stopped("numpy.linalg.svd", np.linalg.svd, np.eye(2))
        with withheld("zlib.crc32"):
            stopped("zlib.crc32", zlib.crc32, b"")
        stopped("zlib.crc32", zlib.crc32, b"")
    assert zlib.crc32 is before is sys.modules["__main__"].my_alias
    assert zlib.crc32(b"") == 0


def test_one_object_by_two_names_and_twice() -> None:
    assert tf.matmul is tf.linalg.matmul
    with withheld("tensorflow.matmul", "tensorflow.linalg.matmul", "tensorflow.matmul"):
        stopped("tensorflow.matmul", tf.linalg.matmul, 1, 2)
    assert tf.matmul([[1.0]], [[2.0]]).numpy() == 2.0


def test_restored_after_an_exception() -> None:
    with pytest.raises(KeyError), withheld("tensorflow.gradients"):
        raise KeyError
    with pytest.raises(RuntimeError, match="build this yourself"), withheld("tensorflow.gradients"):
        gradient()
    assert len(gradient()) == 1


def test_nested() -> None:
    with withheld("tensorflow.gradients", "tensorflow.matmul"):
        with withheld("tensorflow.gradients", "tensorflow.Variable"):
            stopped("tensorflow.Variable", make_variable)
        stopped("tensorflow.gradients", gradient)
        assert make_variable() is not None
    assert len(gradient()) == 1


def test_overlapping_in_two_threads() -> None:
    names = {"first": ("tensorflow.gradients", "zlib.crc32"), "second": ("zlib.crc32", "tensorflow.gradients")}
    both, first_is_out = threading.Barrier(2), threading.Event()
    failures: list[BaseException] = []

    def work(key: str) -> None:
        try:
            with withheld(*names[key]):
                both.wait()
                stopped("tensorflow.gradients", gradient)
                stopped("zlib.crc32", zlib.crc32, b"")
                if key == "second":
                    first_is_out.wait()
                    stopped("tensorflow.gradients", gradient)
                    stopped("zlib.crc32", zlib.crc32, b"")
        except BaseException as error:
            failures.append(error)
            both.abort()
        finally:
            if key == "first":
                first_is_out.set()

    threads = [threading.Thread(target=work, args=(key,)) for key in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(gradient()) == 1
    assert zlib.crc32(b"") == 0


def test_many_threads() -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(50):
                with withheld(
                    "tensorflow.gradients", "tensorflow.compat.v1.Session", "tensorflow.Variable", "zlib.adler32"
                ):
                    stopped("tensorflow.Variable", tf.Variable, 1.0)
                    stopped("zlib.adler32", lambda: zlib.adler32(b""))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(gradient()) == 1
    assert tf.Variable(1.0).numpy() == 1.0
    assert withholding._held == {}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tensorflow.no_such", "'tensorflow.no_such' does not resolve: 'tensorflow' has no attribute 'no_such'"),
        ("tensorflow.nn.no.more", "'tensorflow.nn.no.more' does not resolve: 'tensorflow.nn' has no attribute 'no'"),
        ("no_such_module_x.f", "'no_such_module_x.f' does not resolve: there is no module 'no_such_module_x'"),
        ("tf.gradients", "'tf.gradients' does not resolve: there is no module 'tf'"),
        ("", "'' does not resolve: there is no module ''"),
    ],
)  # fmt: skip
def test_unknown_names(name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught, withheld("tensorflow.gradients", name):
        pass
    assert str(caught.value) == message
    assert len(gradient()) == 1
    assert withholding._held == {}


def test_what_cannot_be_withheld() -> None:
    with pytest.raises(TypeError, match=r"'tensorflow\.float32' cannot be withheld"), withheld("tensorflow.float32"):
        pass
    with pytest.raises(TypeError, match="cannot make"), withheld("tensorflow.gradients", "sys.path.append"):
        pass
    with pytest.raises(ValueError, match="without a name"), withheld():
        pass
    assert len(gradient()) == 1
    assert withholding._held == {}


def test_the_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Any] = []

    def install(names: tuple[str, ...]) -> Callable[[], None]:
        events.append(names)
        return lambda: events.append("restored")

    monkeypatch.setattr(withholding, "_install", install)
    with withheld("a.b", "c"):
        events.append("inside")
    assert events == [("a.b", "c"), "inside", "restored"]

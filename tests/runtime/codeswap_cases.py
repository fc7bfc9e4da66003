"""Cases for `tflabs.runtime.codeswap` without TensorFlow and pytest, so that any supported Python runs them.

Each function `case_…` is a test of its own; run as a script, all of them are run.
"""

import abc
import asyncio
import contextlib
import enum
import functools
import inspect
import traceback
import typing
import zlib

from tflabs.runtime.codeswap import block, original

MESSAGE = 'with "quotes", \\ and {braces} %s'


def stopped(call: typing.Callable[[], object], message: str = MESSAGE) -> None:
    try:
        call()
    except RuntimeError as error:
        assert str(error) == message, error
        assert message in "".join(traceback.format_exception(error))
    else:
        raise AssertionError("not stopped")


def plain(a, /, b=2, *rest, c=3, **more):
    """Doc."""
    return a, b, rest, c, more


def case_plain_function() -> None:
    alias, code, signature = plain, plain.__code__, inspect.signature(plain)
    restore = block(plain, MESSAGE)
    for call in (alias, lambda: alias(1), lambda: alias(1, 2, 3, c=4, d=5), lambda: alias(nothing=1)):
        stopped(call)
    assert alias is plain
    assert alias.__doc__ == "Doc."
    restore()
    assert plain.__code__ is code
    assert inspect.signature(plain) == signature
    assert alias(1, c=4) == (1, 2, (), 4, {})


def case_closures_of_every_size() -> None:
    def with_cells(count: int) -> typing.Callable[[], int]:
        names = [f"x{index}" for index in range(count)]
        lines = ["def outer():", *(f"    {name} = 1" for name in names), f"    return lambda: {' + '.join(names) or 0}"]
        namespace: dict[str, typing.Any] = {}
        exec("\n".join(lines), namespace)
        return namespace["outer"]()

    for count in (0, 1, 2, 3, 10, 300):
        function = with_cells(count)
        for _ in range(3):
            for _ in range(20):  # often enough for the interpreter to specialise the call
                assert function() == count
            restore = block(function, MESSAGE)
            for _ in range(20):
                stopped(function)
            restore()


def case_decorated() -> None:
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    @decorate
    def f() -> int:
        return 1

    inner = f.__wrapped__
    restore = block(f, MESSAGE)
    stopped(f)
    assert inner() == 1
    restore()
    assert f() == 1


def case_recursion_under_way() -> None:
    def f(depth: int) -> int:
        if depth == 0:
            restore = block(f, MESSAGE)
            stopped(lambda: f(3))
            restore()
            return 0
        return 1 + f(depth - 1)

    assert f(5) == 5


def case_generators_and_coroutines() -> None:
    def generate():
        yield 1

    async def wait() -> int:
        return 1

    @contextlib.contextmanager
    def manager():
        yield 1

    for function in (generate, wait, manager):
        restore = block(function, MESSAGE)
        stopped(function)  # at the call, not at the first step
        restore()
    assert list(generate()) == [1]
    assert asyncio.run(wait()) == 1
    with manager() as value:
        assert value == 1


class Base:
    def __init__(self, x: int) -> None:
        self.x = x

    @staticmethod
    def static() -> int:
        return 1

    @classmethod
    def of(cls, x: int) -> "Base":
        return cls(x)


class Sibling(Base):
    def __init__(self, x: int) -> None:
        super().__init__(x)


class Inheriting(Base):
    pass


class Named(typing.NamedTuple):
    x: int


class New:
    def __new__(cls, x: int) -> "New":
        self = super().__new__(cls)
        self.x = x
        return self


class Text(str):
    pass


class Empty:
    pass


class Slots:
    __slots__ = ("x",)

    def __init__(self, x: int) -> None:
        self.x = x


class Abstract(abc.ABC):
    def __init__(self, x: int) -> None:
        self.x = x

    @abc.abstractmethod
    def method(self) -> None: ...


class Concrete(Abstract):
    def method(self) -> None: ...


def case_classes_come_back_exactly() -> None:
    for cls, args in (
        (Base, (1,)), (Sibling, (1,)), (Inheriting, (1,)), (Named, (1,)), (New, (1,)), (Text, ("a",)), (Empty, ()),
        (Slots, (1,)), (Concrete, (1,)),
    ):  # fmt: skip
        before = dict(vars(cls))
        sub = type("Sub", (cls,), {"__slots__": ()})
        for _ in range(2):
            restore = block(cls, MESSAGE)
            stopped(lambda cls=cls, args=args: cls(*args))
            stopped(lambda sub=sub, args=args: sub(*args))
            restore()
            assert dict(vars(cls)) == before
            assert getattr(cls(*args), "x", 1) == getattr(sub(*args), "x", 1) == 1
            try:
                cls(*args, 1, 2, 3, 4)
            except TypeError:
                pass
            else:
                raise AssertionError(f"{cls} takes any arguments afterwards")


def case_only_the_class_and_its_subclasses() -> None:
    restore = block(Inheriting, MESSAGE)
    stopped(lambda: Inheriting.of(1))
    assert Base(1).x == Sibling(1).x == 1
    restore()
    restore = block(Base, MESSAGE)
    stopped(lambda: Sibling(1))
    restore()
    assert Inheriting.of(1).x == 1


def case_finalizer_does_not_run_on_what_was_never_made() -> None:
    class Finalized:
        made: typing.ClassVar[list[int]] = []

        def __init__(self) -> None:
            self.handle = 1

        def __del__(self) -> None:
            self.made.append(self.handle)  # would be an AttributeError on stderr

    restore = block(Finalized, MESSAGE)
    stopped(Finalized)
    assert Finalized.made == []
    restore()
    Finalized()
    assert Finalized.made == [1]


class Meta(type):
    def __call__(cls, *args):
        return object.__new__(Made) if cls is Maker else super().__call__(*args)


class Maker(metaclass=Meta):
    pass


class Made(Maker):
    def __init__(self, x: int) -> None:
        self.x = x


class Other(metaclass=Meta):
    pass


def case_metaclass_that_makes_other_instances() -> None:
    call = Meta.__call__
    restore = block(Maker, "maker")
    stopped(Maker, "maker")
    stopped(lambda: Made(1), "maker")
    assert type(Other()) is Other
    # Ends need not come in the order of the beginnings.
    restore_other = block(Other, "other")
    restore()
    stopped(Other, "other")
    assert type(Maker()) is Made
    restore_other()
    assert type(Other()) is Other
    assert Meta.__call__ is call


class Color(enum.Enum):
    RED = 1


def case_enum() -> None:
    restore = block(Color, MESSAGE)
    stopped(lambda: Color(1))
    restore()
    assert Color(1) is Color.RED


def case_callable_objects() -> None:
    class Function:
        def __init__(self) -> None:
            self.calls = 0

        def __call__(self) -> int:
            self.calls += 1
            return self.calls

    first, second = Function(), Function()
    restore = block(first, MESSAGE)
    stopped(first)
    assert isinstance(first, Function)
    assert second() == 1
    restore()
    assert type(first) is Function
    assert first() == 1


crc32 = zlib.crc32  # an alias in a module


def case_builtin_functions() -> None:
    function = zlib.crc32
    restore = block(function, MESSAGE)
    stopped(lambda: zlib.crc32(b""))
    stopped(lambda: crc32(b""))
    assert original(zlib.crc32) is function
    globals()["copied"] = zlib.crc32
    restore()
    assert zlib.crc32 is crc32 is function is globals().pop("copied")


def case_classes_of_c() -> None:
    cls = functools.partial
    restore = block(cls, MESSAGE)
    stopped(lambda: functools.partial(int))
    restore()
    assert functools.partial is cls


def case_what_cannot_be_blocked_says_so() -> None:
    for target in ([].append, functools.partial(int)):
        try:
            block(target, MESSAGE)
        except TypeError as error:
            assert "no module has it" in str(error)
        else:
            raise AssertionError(f"{target} blocked?")


CASES = {name.removeprefix("case_"): case for name, case in list(globals().items()) if name.startswith("case_")}

if __name__ == "__main__":
    for case in CASES.values():
        case()
    print(len(CASES), "cases")

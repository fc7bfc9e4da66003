"""The session player: its two pictures, and what its buttons do to a real session and a real default stack."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import pytest
import resvg_py
from PIL import Image

from tflabs.view import Picture, session_cache
from tflabs.view.session_cache import Lookup, Opened, StackModel, default_stack, executor_cache, run_step

FIRST = Lookup(("x:0",), ("y:0",), (), hit=False)
LONG = Lookup(("x:0",), tuple(f"some/rather/long/scope/name_{index}:0" for index in range(9)), ("n",), hit=False)


@pytest.fixture(scope="module")
def tf() -> Any:
    from tflabs.runtime import quiet

    with quiet():
        import tensorflow
    return tensorflow


@pytest.fixture
def session(tf: Any) -> Any:
    """A session over x → h → y that tells hits from misses."""
    config = tf.compat.v1.ConfigProto(device_count={"CPU": 1})
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.build_cost_model = config.graph_options.build_cost_model_after = 1
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
        tf.square(tf.negative(x, name="h"), name="y")
        with tf.compat.v1.Session(graph=graph, config=config) as opened:
            yield opened


def pixels(picture: Picture, *, dark: bool = False) -> Image.Image:
    svg = picture.svg
    if dark:
        svg = re.sub(r"@media \(prefers-color-scheme: dark\)\{(.*?)\}(?=</style>)", r"\1", svg, flags=re.DOTALL)
    return Image.open(BytesIO(bytes(resvg_py.svg_to_bytes(svg_string=svg)))).convert("L")


def words(picture: Picture) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


def buttons(widget: Any) -> dict[str, Any]:
    """All buttons and lists below a widget, by description."""
    found = {getattr(widget, "description", ""): widget}
    for child in getattr(widget, "children", ()):
        found |= buttons(child)
    return found


def shown(widget: Any) -> str:
    """The alternative texts of all pictures below a widget."""
    own = re.findall(r'alt="([^"]*)"', getattr(widget, "value", "") or "") if type(widget).__name__ == "HTML" else []
    return " ".join([*own, *(shown(child) for child in getattr(widget, "children", ()))])


PICTURES = {
    "empty cache": executor_cache([]),
    "miss": executor_cache([FIRST]),
    "hit": executor_cache([FIRST, LONG, Lookup(*FIRST.key, hit=True)]),
    "long names": executor_cache([LONG]),
    "empty stack": default_stack([]),
    "stack": default_stack(
        [Opened("s1", "with"), Opened("s2", "interactive", closed=True)], "s2 closed: " + "word " * 30
    ),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_cut_and_both_themes_show_something(name: str, dark: bool) -> None:
    image = pixels(PICTURES[name], dark=dark)
    background = image.getpixel((0, 0))
    width, height = image.size
    edge = [(x, y) for x in range(width) for y in (0, 1, height - 2, height - 1)]
    edge += [(x, y) for y in range(height) for x in (0, 1, width - 2, width - 1)]
    assert all(image.getpixel(point) == background for point in edge), "something touches the edge of the picture"
    darkest, lightest = image.getextrema()
    assert lightest - darkest > 120, "too little contrast to read"
    assert background > 200 if not dark else background < 60


def test_the_cache_has_one_row_for_each_key_and_names_its_runs() -> None:
    picture = executor_cache([FIRST, LONG, Lookup(*FIRST.key, hit=True), Lookup(*FIRST.key, hit=True)])
    assert words(picture).count("run 1") == 1
    assert "run 3, 4" in words(picture)
    assert "4 runs, 2 hits, 2 misses" in words(picture)
    assert "run 4, hit: the executor was there" in words(picture)


def test_an_executor_that_a_failed_run_made_is_not_said_to_be_new() -> None:
    picture = executor_cache([Lookup(*FIRST.key, hit=True)])
    assert "a failed run" in words(picture)
    assert "run 1" in words(picture)
    assert "1 run, 1 hit, 0 misses" in words(picture)


def test_the_key_is_written_as_the_runtime_writes_it() -> None:
    assert Lookup(("a:0", "b:0"), ("p:0", "q:0"), ("n",), hit=False).text == "a:0,b:0->p:0,q:0/n/0/"


def test_the_key_is_the_one_in_the_handle_of_a_partial_run(tf: Any, session: Any) -> None:
    handle = session.partial_run_setup(["y:0", "h:0"], ["x:0"])
    key = Lookup(("x:0",), ("h:0", "y:0"), (), hit=False).text
    assert handle.rpartition(";")[0] == key.replace("/0/", "/1/"), "a partial run has the same key but for its flag"


def test_pictures_say_in_words_what_they_show() -> None:
    assert "the last was a miss" in PICTURES["miss"].alt
    assert "fetches ['y:0']" in PICTURES["miss"].alt
    assert default_stack([Opened("s1", "with"), Opened("s2", "interactive", closed=True)]).alt == (
        "Default stack, top first: s2 (interactive, closed), s1 (with)."
    )


def test_equal_input_gives_equal_bytes() -> None:
    assert executor_cache([FIRST, LONG]) == executor_cache([FIRST, LONG])


def test_run_step_reads_hit_and_miss_from_the_session(session: Any) -> None:
    asked = [(["x:0"], ["y:0"], []), (["x:0"], ["y:0", "y:0"], []), (["h:0"], ["y:0"], []), (["x:0"], ["y:0"], ["h"])]
    found = [run_step(session, *names) for names in [*asked, asked[0]]]
    assert [lookup and lookup.hit for lookup in found] == [False, True, False, False, True]
    assert found[0] == FIRST


def test_run_step_without_anything_to_run_looks_nothing_up(session: Any) -> None:
    assert run_step(session, ["x:0"], [], []) is None
    assert run_step(session, ["x:0"], ["x:0"], []) is None
    assert run_step(session, ["x:0"], ["x:0", "y:0"], []) == FIRST


def test_a_session_that_cannot_tell_hits_from_misses_is_refused(tf: Any) -> None:
    with tf.compat.v1.Session(graph=tf.Graph()) as plain, pytest.raises(ValueError, match="build_cost_model"):
        session_cache(plain)


def test_the_player_runs_steps_and_keeps_count(session: Any) -> None:
    player = session_cache(session)
    controls = buttons(player)
    assert "after 1 run; the last was a miss" in shown(player)
    controls["Run a step"].click()
    assert "after 2 runs; the last was a hit" in shown(player)
    controls["feeds"].value = ("h:0",)
    controls["Run a step"].click()
    assert "after 3 runs; the last was a miss" in shown(player)


def test_the_player_shows_an_error_and_goes_on(session: Any) -> None:
    player = session_cache(session)
    controls = buttons(player)
    controls["feeds"].value = ()
    controls["Run a step"].click()
    said = [child.value for child in player.children[0].children[1].children if type(child).__name__ == "HTML"]
    assert "You must feed a value for placeholder tensor" in said[0]
    assert "after 1 run;" in shown(player)
    controls["feeds"].value = ("x:0",)
    controls["Run a step"].click()
    assert "after 2 runs; the last was a hit" in shown(player)


def test_the_player_opens_and_ends_sessions(session: Any) -> None:
    player = session_cache(session)
    controls = buttons(player)
    assert "Default stack, top first: empty." in shown(player)
    controls["InteractiveSession()"].click()
    controls["with as_default()"].click()
    assert "s2 (with), s1 (interactive)." in shown(player)
    ending = next(widget for widget in player.children[1].children[0].children if type(widget).__name__ == "Dropdown")
    ending.value = "s1"
    controls["Close or leave"].click()
    assert "s2 (with), s1 (interactive, closed). s1 closed: AssertionError" in shown(player)
    assert [value for _, value in ending.options] == ["s2"]
    controls["Close or leave"].click()
    assert "top first: s1 (interactive, closed). s2 left" in shown(player)
    assert controls["Close or leave"].disabled
    controls["Empty the stack"].click()
    assert "Default stack, top first: empty." in shown(player)


def test_the_stack_is_one_stack_whichever_thread_calls() -> None:
    """JupyterLab may deliver each widget's messages in another thread of the kernel."""
    from concurrent.futures import ThreadPoolExecutor

    model = StackModel()
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        one.submit(model.enter, "interactive").result()
        other.submit(model.enter, "with").result()
        assert "AssertionError" in other.submit(model.end, "s1").result()
    assert [item.name for item in model.stack] == ["s1", "s2"]
    model.clear()


def test_the_model_behaves_as_tensorflow_sessions_do(tf: Any) -> None:
    """Two interactive sessions closed in the wrong order, beside real ones in a thread of their own."""
    from concurrent.futures import ThreadPoolExecutor

    model = StackModel()
    for kind in ("interactive", "with", "interactive"):
        model.enter(kind)
    said = [model.end(name) for name in ("s1", "s3", "s2")]
    left = [item.name for item in model.stack]
    model.clear()

    def real() -> tuple[list[bool], bool]:
        tf1, refused = tf.compat.v1, []
        logger = tf.get_logger()
        logger.addFilter(silence := lambda record: False)
        try:
            with tf.Graph().as_default():
                first, second = tf1.InteractiveSession(), tf1.Session()
                scope = second.as_default()
                scope.__enter__()
                third = tf1.InteractiveSession()
                for end in (first.close, third.close, lambda: scope.__exit__(None, None, None)):
                    try:
                        end()
                        refused.append(False)
                    except AssertionError:
                        refused.append(True)
                return refused, tf1.get_default_session() is first
        finally:
            logger.removeFilter(silence)

    with ThreadPoolExecutor(1) as thread:
        refused, first_is_default = thread.submit(real).result()
    assert ["AssertionError" in words for words in said] == refused == [True, False, False]
    assert (left == ["s1"]) is first_is_default is True

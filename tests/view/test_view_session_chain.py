"""The sessions inside a monitored session, drawn from live ones."""

from __future__ import annotations

from typing import Any

from view_svg_checks import check_page, check_pixels, parse, texts

from tflabs.view import session_chain
from tflabs.view.session_chain import _WORDS, wrapped_sessions


def test_the_chain_is_read_from_the_live_session(tf: Any) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.train.get_or_create_global_step()
        with v1.train.MonitoredSession(hooks=[v1.train.StopAtStepHook(last_step=3)]) as session:
            chain = wrapped_sessions(session)
            picture = session_chain(session, title="A chain")
            session._coordinated_creator.coord.request_stop()
            stopped = session_chain(session)
        closed = session_chain(session)
    names = ["MonitoredSession", "_RecoverableSession", "_CoordinatedSession", "_HookedSession", "Session"]
    assert [type(each).__name__ for each in chain] == names
    assert set(names) <= _WORDS.keys()
    shown = [words for words, _ in texts(parse(picture))]
    assert [words for words in shown if words in names] == names
    assert {"A chain", "coordinator: no stop requested", "hooks, in order: StopAtStepHook"} <= set(shown)
    assert "coordinator: a stop was requested" in stopped.alt
    assert closed.alt.startswith("1 session,")
    assert picture.size[0] <= 830, "wider than a cell of JupyterLab"
    for each in (picture, stopped, closed):
        check_page(each)
        check_pixels(each)


def test_a_session_without_recovery_and_hooks_has_a_shorter_chain(tf: Any) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.train.get_or_create_global_step()
        with v1.train.SingularMonitoredSession() as session:
            picture = session_chain(session)
    assert picture.alt.startswith("4 sessions, each inside the one before. SingularMonitoredSession: ")
    assert "hooks, in order: none" in picture.alt

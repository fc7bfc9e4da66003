"""The learner's commands as a learner runs them: output, exit codes, and a clear line for all that goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

import toy
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.learning import study
from tflabs.learning.workspace import Workspace

NOBODY = 65534


def environment(course: Course) -> dict[str, str]:
    ours = {"TFLABS_COURSE": str(course.root), "TFLABS_PROGRAM": "tflabs", "COLUMNS": "160", "NO_COLOR": "1"}
    return os.environ | ours


def tflabs(course: Course, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tflabs", *arguments]
    return subprocess.run(command, env=environment(course), capture_output=True, text=True, timeout=120, **options)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def notebook(course: Course) -> Path:
    """A solved notebook in the learner's folder."""
    return toy.save(toy.solved(course), course.root / "work" / toy.LAB / f"{toy.LAB}.ipynb")


def test_check_prints_a_table_and_what_was_proved(course: Course, notebook: Path) -> None:
    done = tflabs(course, "check", toy.LAB)
    assert done.returncode == 0, done.stderr
    assert "5 of 5 points" in done.stdout
    assert "A sum is enough." in done.stdout
    again = tflabs(course, "check", toy.LAB)
    assert "A sum is enough." not in again.stdout


def test_check_says_what_is_missing(course: Course, notebook: Path) -> None:
    toy.save(toy.learner_notebook(course, guess="guessed = 5"), notebook)
    done = tflabs(course, "check", toy.LAB)
    assert done.returncode == 1
    assert "twice two is 4, found 5" in done.stdout and "not answered yet" in done.stdout


def test_check_json_is_one_document(course: Course, notebook: Path) -> None:
    done = tflabs(course, "check", toy.LAB, "--json")
    document = json.loads(done.stdout)
    assert (document["lab"], document["points"], document["max_points"]) == (toy.LAB, 5.0, 5.0)
    assert document["exercises"][1] == {
        "id": "double",
        "title": "Double",
        "points": 4.0,
        "max_points": 4.0,
        "tests": [{"id": "double-test", "points": 4.0, "max_points": 4.0, "message": "", "judged": "examiner"}],
    }


def test_check_without_names_takes_what_was_begun(course: Course, notebook: Path) -> None:
    assert tflabs(course, "check", "--json").returncode == 0
    toy.save(toy.learner_notebook(course), notebook)
    done = tflabs(course, "check")
    assert done.returncode == 2 and "was begun" in done.stderr


def test_check_of_a_file_keeps_no_progress(course: Course, notebook: Path, tmp_path: Path) -> None:
    other = toy.save(read_notebook(notebook), tmp_path / "elsewhere" / "any name.ipynb")
    assert tflabs(course, "check", "--file", str(other)).returncode == 0
    assert not (course.root / "work" / ".tflabs").exists()


def test_solution_is_shown_once_yours_has_passed(course: Course, notebook: Path) -> None:
    before = tflabs(course, "solution", toy.LAB, "double")
    assert before.returncode == 1 and "once yours has passed" in before.stderr and "x + x" not in before.stdout
    tflabs(course, "check", toy.LAB)
    after = tflabs(course, "solution", toy.LAB, "double")
    assert after.returncode == 0 and "return x + x" in after.stdout and "A sum is enough." in after.stdout


def test_progress_says_what_is_next(course: Course, notebook: Path) -> None:
    assert "next: 1-1-toy" in tflabs(course, "progress").stdout
    tflabs(course, "check", toy.LAB)
    done = tflabs(course, "progress")
    assert "5 of 5" in done.stdout and "everything that is written is done" in done.stdout


def test_reset_keeps_the_old_notebook(course: Course, notebook: Path) -> None:
    before = notebook.read_bytes()
    done = tflabs(course, "reset", toy.LAB)
    assert done.returncode == 0 and "1-1-toy.old-1.ipynb" in done.stdout
    assert notebook.with_name("1-1-toy.old-1.ipynb").read_bytes() == before


@pytest.mark.parametrize("command", ["check", "watch", "reset", "study", "build", "verify"])
def test_an_unknown_lab_gets_the_nearest_name(course: Course, command: str) -> None:
    done = tflabs(course, command, "1-1-toi")
    assert done.returncode == 2 and "did you mean 1-1-toy" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["check", "watch", "reset", "study"])
def test_a_lab_that_is_not_written_says_so(course: Course, command: str) -> None:
    done = tflabs(course, command, "1-2-later")
    assert done.returncode == 2 and "is not written yet" in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("{", "no JSON"),
        ('{"a": 1}', "has no `nbformat` number"),
        ('{"nbformat": 3, "worksheets": []}', "format 3; format 4 is needed"),
        (
            '{"nbformat": 4, "nbformat_minor": 5, "metadata": {"tflabs": {"lab": "1-2-later"}}, "cells": []}',
            "1-2-later",
        ),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}', "holds none of the lab's exercises"),
    ],
)
def test_a_broken_or_foreign_notebook_is_named_and_left_alone(
    course: Course, notebook: Path, content: str, message: str
) -> None:
    notebook.write_text(content, encoding="utf-8")
    done = tflabs(course, "check", toy.LAB)
    assert done.returncode == 2
    assert message in done.stderr and str(notebook) in done.stderr and "Traceback" not in done.stderr
    assert notebook.read_text(encoding="utf-8") == content
    assert not (course.root / "work" / ".tflabs").exists()


def test_a_notebook_without_metadata_is_graded_when_its_lab_is_named(course: Course, notebook: Path) -> None:
    data = json.loads(notebook.read_text(encoding="utf-8"))
    del data["metadata"]
    notebook.write_text(json.dumps(data), encoding="utf-8")
    assert tflabs(course, "check", toy.LAB).returncode == 0
    done = tflabs(course, "check", "--file", str(notebook))
    assert done.returncode == 2 and "does not say which lab" in done.stderr


def test_missing_notebook_and_misuse(course: Course, notebook: Path) -> None:
    notebook.unlink()
    assert "`tflabs study` copies" in tflabs(course, "check", toy.LAB).stderr
    assert tflabs(course, "check", "--nosuch").returncode == 2
    assert tflabs(course, "check", toy.LAB, toy.LAB, "--file", "x.ipynb").returncode == 2
    assert "there is no notebook" in tflabs(course, "check", "--file", "x.ipynb").stderr
    assert "has no exercise" in tflabs(course, "solution", toy.LAB, "nosuch").stderr


def test_every_command_explains_itself(course: Course) -> None:
    overview = tflabs(course, "--help").stdout
    for command in ("study", "check", "watch", "progress", "reset", "solution", "build", "verify", "test"):
        assert command in overview
        explained = tflabs(course, command, "--help")
        assert explained.returncode == 0 and f"Usage: tflabs {command}" in explained.stdout


def test_misuse_is_one_line(course: Course) -> None:
    for arguments in (["nosuch"], ["check", "--nosuch"], ["study", "--port", "x"], ["solution", toy.LAB]):
        done = tflabs(course, *arguments)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stderr.startswith("tflabs: ") and "--help" in done.stderr
    assert tflabs(course).returncode == 0


def test_messages_name_the_command_as_it_was_called(course: Course) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tflabs", "check", toy.LAB],
        env=environment(course) | {"TFLABS_PROGRAM": "./tflabs"},
        capture_output=True,
        text=True,
    )
    assert "`./tflabs study`" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
@pytest.mark.parametrize("command", [["study", "--no-browser"], ["reset", toy.LAB]])
def test_a_read_only_folder_is_named(course: Course, command: list[str]) -> None:
    for path in [course.root, *course.root.parents]:
        if path.stat().st_uid == os.geteuid() and path != Path("/tmp"):
            path.chmod(path.stat().st_mode | 0o555)
    done = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, *command],
        env=environment(course),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert re.search(r"cannot write .*Permission denied", done.stderr) and "Traceback" not in done.stderr


# The interpreter and the package may lie where another user cannot read: import first, then become that user.
_AS_NOBODY = f"""
import os, sys
import tflabs.cli, tflabs.learning.command, tflabs.learning.study, tflabs.learning.startpage
import asyncio, IPython, ipykernel, jupyter_client, rich.console
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
sys.argv = ["tflabs", *sys.argv[1:]]
tflabs.cli.main()
"""


def test_a_busy_port_is_named(course: Course) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = tflabs(course, "study", "--no-browser", "--port", str(port))
    assert done.returncode == 2
    assert f"port {port} cannot be used: Address already in use" in done.stderr


def test_a_port_that_is_none_is_named(course: Course) -> None:
    done = tflabs(course, "study", "--no-browser", "--port", "99999")
    assert done.returncode == 2 and "port 99999 cannot be used" in done.stderr


@contextlib.contextmanager
def running(course: Course, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tflabs", *arguments],
        env=environment(course),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_check_that_is_interrupted_loses_nothing(course: Course, notebook: Path, number: int) -> None:
    tflabs(course, "check", toy.LAB)
    record = course.root / "work" / ".tflabs" / "progress.json"
    before = record.read_bytes(), notebook.read_bytes()
    slow = toy.solved(course)
    seconds = f"600.{os.getpid()}{number}"  # a sign that leaves the box: a process of this name
    slow.cells[2].source = f"import subprocess\nsubprocess.run(['sleep', '{seconds}'])"
    toy.save(slow, notebook)

    def sleeps() -> bool:
        return any(process.info["cmdline"] == ["sleep", seconds] for process in psutil.process_iter(["cmdline"]))

    with running(course, "check", toy.LAB) as process:
        wait_for(sleeps)
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
    wait_for(lambda: not sleeps())
    if number == signal.SIGINT:
        assert process.returncode == 130 and "interrupted" in errors and "Traceback" not in errors
    assert record.read_bytes() == before[0]
    toy.save(toy.solved(course), notebook)
    assert tflabs(course, "check", toy.LAB).returncode == 0


def test_watch_checks_again_on_each_save(course: Course, notebook: Path) -> None:
    toy.save(toy.learner_notebook(course, guess="guessed = 5"), notebook)
    record = course.root / "work" / ".tflabs" / "progress.json"

    def passed(exercise: str) -> bool:
        if not record.exists():
            return False
        kept = json.loads(record.read_text(encoding="utf-8"))["labs"][toy.LAB]["exercises"]
        return bool(kept[exercise]["passed"])

    with running(course, "watch", toy.LAB) as process:
        wait_for(record.exists)
        assert not passed("guess")
        notebook.write_text("{", encoding="utf-8")  # an editor that saves in two steps
        toy.save(toy.learner_notebook(course, guess="guessed = 4"), notebook)
        wait_for(lambda: passed("guess"))
        assert not passed("double")
        toy.save(toy.solved(course), notebook)
        wait_for(lambda: passed("double"))
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=20)
    assert process.returncode == 0 and "watching ended" in errors and "Traceback" not in errors
    assert "5 of 5 points" in output


def test_watch_without_names_waits_for_a_lab_to_be_begun(course: Course, notebook: Path) -> None:
    toy.save(toy.learner_notebook(course), notebook)
    record = course.root / "work" / ".tflabs" / "progress.json"
    with running(course, "watch") as process:
        assert process.stdout is not None
        assert "no lab is begun yet" in process.stdout.readline()
        assert not record.exists()
        toy.save(toy.solved(course), notebook)
        wait_for(record.exists)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
    assert process.returncode == 0 and "5 of 5 points" in output


def test_study_copies_the_labs_and_serves_them(course: Course) -> None:
    with running(course, "study", "--no-browser") as process:
        assert process.stderr is not None
        said = []
        while "http://" not in (line := process.stderr.readline()):
            said.append(line)
        assert (course.root / "work" / toy.LAB / f"{toy.LAB}.ipynb").exists()
        assert "token=" in line
        page = read_notebook(course.root / "work" / "start.ipynb")
        assert page.cells[0].outputs, "".join(said)
        assert "application/vnd.jupyter.widget-view+json" in page.cells[0].outputs[0]["data"]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_second_study_of_the_same_folder_says_where_the_first_is(course: Course) -> None:
    with running(course, "study", "--no-browser") as first:
        assert first.stderr is not None
        url = next(match[0] for line in first.stderr if (match := re.search(r"http://\S+", line)))
        second = tflabs(course, "study", "--no-browser", toy.LAB)
        assert second.returncode == 0
        assert url.replace("start.ipynb", f"{toy.LAB}/{toy.LAB}.ipynb") in second.stderr
        assert "runs already" in second.stderr
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=30)


def test_a_port_that_somebody_takes_at_the_last_moment_is_left_to_them(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    (course.root / "work").mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # listens not yet: another server that is starting
        number = taken.getsockname()[1]
        monkeypatch.setattr(study, "FIRST_PORT", number)
        monkeypatch.setattr(study, "LAST_PORT", number + 20)
        monkeypatch.setattr(study, "try_port", lambda port: None)
        server, port = study.start_ready(course, Workspace(course.root / "work"), None, "token")
        study.end(server)
    assert port > number


def test_two_at_once_take_two_ports_and_a_kill_of_study_ends_its_server(course: Course) -> None:
    another = str(course.root.parent / "another")
    with (
        running(course, "study", "--no-browser") as one,
        running(course, "study", "--no-browser", "--dir", another) as two,
    ):
        urls = [next(line for line in study.stderr or () if "http://" in line) for study in (one, two)]
        assert len({url.partition("/lab")[0] for url in urls}) == 2
        server = psutil.Process(one.pid).children()[0]
        family = [server, *server.children(recursive=True)]
        one.kill()
        gone, alive = psutil.wait_procs(family, timeout=30)
        assert not alive and gone
        assert two.poll() is None
        two.send_signal(signal.SIGINT)
        two.communicate(timeout=30)

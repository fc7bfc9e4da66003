"""Whatever is killed, and whenever: nothing is lost, and nothing graded twice.

TFLABS_POOL_KILLS says at how many instants the grader is killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pool_cases
import psutil
import pytest

import toy
from spoilt import BINARIES
from tflabs.course.layout import Course

COUNT, KILLS_OF_A_COURSE = 16, 4
KILLS = int(os.environ.get("TFLABS_POOL_KILLS", "4"))
pytestmark = [pytest.mark.xdist_group("pool-ends"), pytest.mark.timeout(600 + 60 * KILLS)]


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return pool_cases.prepared(tmp_path_factory.mktemp("pool") / "course", COUNT)


@pytest.fixture(scope="module")
def expected(handed_in: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = pool_cases.copied(handed_in, tmp_path_factory.mktemp("pool") / "graded")
    pool_cases.grade(course, "--jobs", "2")
    return course


def begin(course: Course, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        pool_cases.grade_command("--jobs", "2", "--json", *arguments),
        env=pool_cases.environment(course),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def recorded(course: Course) -> set[str]:
    """The students whose notebooks nbgrader has finished."""
    paths = (course.root / "autograded").glob(f"*/{toy.LAB}/{toy.LAB}.ipynb")
    return {path.parts[-3] for path in paths if not path.stat().st_mode & 0o200}


def until(condition: Callable[[], bool], grader: subprocess.Popen[str]) -> bool:
    """Wait for a condition; False if the grader ended before it came true."""
    while not condition():
        if grader.poll() is not None:
            return False
        time.sleep(0.01)
    return True


def below(grader: subprocess.Popen[str], module: str) -> Iterator[psutil.Process]:
    """The grader's processes that run this module, parents first."""
    for process in psutil.Process(grader.pid).children(recursive=True):
        try:
            if f"tflabs.grading.{module}" in process.cmdline():
                yield process
        except psutil.NoSuchProcess:
            continue


def workers(grader: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that run notebooks, forked from the nursery once its fork server runs.

    Before, a keeper that the nursery has forked and that has not executed its program yet looks like one.
    """
    has_server = any(below(grader, "sandbox.server"))
    return list(below(grader, "pool.nursery"))[1:] if has_server else []


def settled(course: Course) -> dict[Path, tuple[int, int]]:
    """The notebooks that are recorded for good, and what would change if they were graded once more."""
    marks = {path.name for path in (course.root / ".grading/recording").rglob("*") if path.is_file()}
    paths = [pool_cases.folder(course, student, "autograded") for student in recorded(course) - marks]
    found = {path / f"{toy.LAB}.ipynb": (path / f"{toy.LAB}.ipynb").stat() for path in paths}
    return {path: (stat.st_ino, stat.st_mtime_ns) for path, stat in found.items()}


def test_the_grader_killed_at_random_instants(handed_in: Course, expected: Course, tmp_path: Path) -> None:
    """Somewhere between two records: how far it has come then is as it happens, and what is found is not."""
    drawn, kills = random.Random(3), 0
    while kills < KILLS:
        course, done = pool_cases.copied(handed_in, tmp_path / f"after-{kills}"), dict[Path, tuple[int, int]]()
        for wanted in sorted(drawn.sample(range(COUNT), min(KILLS_OF_A_COURSE, KILLS - kills))):
            grader = begin(course)
            until(lambda course=course, wanted=wanted: len(recorded(course)) >= wanted, grader)
            time.sleep(drawn.random() * 0.4)
            kills += grader.poll() is None
            grader.kill()
            grader.communicate()
            assert done.items() <= settled(course).items()
            done = settled(course)
        end = json.loads(pool_cases.grade(course, "--jobs", "2", "--json").stdout)
        assert end["failed"] == end["pending"] == 0 and end["graded"] + end["skipped"] == COUNT
        assert done.items() <= settled(course).items()
        assert pool_cases.rows(course) == pool_cases.rows(expected)
        assert pool_cases.texts(course) == pool_cases.texts(expected)
        left = [path for path in (course.root / ".grading").rglob("*") if path.is_file()]
        assert left == [course.root / ".grading/lock"]


def test_what_ran_before_a_kill_does_not_run_again(handed_in: Course, tmp_path: Path) -> None:
    course = pool_cases.copied(handed_in, tmp_path / "course")
    grader = begin(course)
    kept = lambda: sorted((course.root / ".grading/runs").rglob("*.json"))  # noqa: E731
    assert until(lambda: bool(kept()), grader)
    grader.send_signal(signal.SIGSTOP)
    grader.kill()
    grader.wait()
    (path, *_) = kept() or pytest.skip("it was recorded in the meantime")
    document = json.loads(path.read_text())
    runs = json.loads(document["runs"])
    for run in runs:  # a mark by which to tell these runs from others
        if run["role"] == "free":
            run["stdout"] = "as it ran before the kill\n"
    path.write_text(json.dumps(document | {"runs": json.dumps(runs)}))
    pool_cases.grade(course, "--jobs", "2")
    notebook = pool_cases.folder(course, path.stem, "autograded") / f"{toy.LAB}.ipynb"
    assert "as it ran before the kill" in notebook.read_text()


@pytest.mark.parametrize("which", ["pool.nursery", "sandbox.server"])
def test_a_process_of_the_pool_killed(handed_in: Course, expected: Course, tmp_path: Path, which: str) -> None:
    """The nursery, or a fork server; the work that it held runs again."""
    course = pool_cases.copied(handed_in, tmp_path / "course")
    grader = begin(course)
    for wanted in (1, 5):
        if until(lambda wanted=wanted: len(recorded(course)) >= wanted, grader):
            first = next(below(grader, which), None)
            assert first is not None
            first.kill()
    out, errors = grader.communicate()
    assert grader.returncode == 0, errors
    assert json.loads(out)["graded"] == COUNT
    assert pool_cases.rows(course) == pool_cases.rows(expected)
    assert pool_cases.texts(course) == pool_cases.texts(expected)


def test_a_worker_killed_once_costs_nothing(handed_in: Course, expected: Course, tmp_path: Path) -> None:
    course = pool_cases.copied(handed_in, tmp_path / "course")
    grader = begin(course)
    found: list[psutil.Process] = []
    assert until(lambda: bool(found.extend(workers(grader)) or found), grader)
    found[0].kill()
    out, errors = grader.communicate()
    assert grader.returncode == 0, errors
    assert json.loads(out)["graded"] == COUNT
    assert pool_cases.rows(course) == pool_cases.rows(expected)


def test_work_whose_process_ends_twice_is_given_up_with_the_reason(handed_in: Course, tmp_path: Path) -> None:
    course = pool_cases.copied(handed_in, tmp_path / "course")
    grader = begin(course, "--student", "000-solved", "--jobs", "1")
    killed: set[int] = set()
    while grader.poll() is None:
        for worker in workers(grader):
            if worker.pid not in killed:
                killed.add(worker.pid)
                worker.kill()
    out, errors = grader.communicate()
    assert grader.returncode == 1
    (row,) = json.loads(out)["submissions"]
    assert row["state"] == "failed" and "was ended 2 times" in row["reason"]
    assert "000-solved" in errors and row["reason"] in errors
    pool_cases.grade(course, "--student", "000-solved")


def test_two_at_a_time_in_one_course(handed_in: Course, tmp_path: Path) -> None:
    course = pool_cases.copied(handed_in, tmp_path / "course")
    grader = begin(course)
    lock = course.root / ".grading/lock"
    assert until(lambda: lock.exists() and bool(lock.read_text()), grader)
    second = pool_cases.grade(course, code=2)
    assert f"by process {grader.pid}" in second.stderr and not second.stdout
    grader.kill()
    grader.communicate()
    pool_cases.grade(course, "--student", "000-solved")


def test_what_a_killed_nbgrader_left_is_graded_again(handed_in: Course, expected: Course, tmp_path: Path) -> None:
    """Stock nbgrader takes a folder with a half-graded notebook for graded."""
    course = pool_cases.copied(handed_in, tmp_path / "course")
    autograde = subprocess.Popen(
        [str(BINARIES / "nbgrader"), "autograde", toy.LAB],
        cwd=course.root,
        env=pool_cases.environment(course),
        stderr=subprocess.DEVNULL,
    )
    half = lambda: [  # noqa: E731
        path
        for path in (course.root / "autograded").rglob("*.ipynb")
        if path.stat().st_mode & 0o200 and path.read_text().endswith("}\n")
    ]
    while len(recorded(course)) < 2 or not half():
        assert autograde.poll() is None
        time.sleep(0.002)
    autograde.kill()
    autograde.wait()
    pool_cases.grade(course, "--jobs", "2")
    assert pool_cases.rows(course) == pool_cases.rows(expected)
    assert pool_cases.texts(course) == pool_cases.texts(expected)

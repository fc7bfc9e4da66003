"""Work is described once, the same wherever it is asked for; the journal believes only what is whole."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

import pool_cases
import pytest

import tflabs
import toy
from tflabs.course.layout import Course
from tflabs.errors import UserError
from tflabs.grading import autograde
from tflabs.grading.pool import work as work_module
from tflabs.grading.pool.grader import Grader, Outcome
from tflabs.grading.pool.journal import Journal
from tflabs.grading.pool.local import LocalPool
from tflabs.grading.pool.nursery import CHILDREN
from tflabs.grading.pool.pool import PoolBroken, Ungradable
from tflabs.grading.pool.submissions import Submission, Submissions
from tflabs.grading.pool.work import Cell, Work, work_from_bytes
from tflabs.grading.pool.writer import Writer
from tflabs.grading.run import CellRun

WORK = Work(
    cells=(Cell("a", "print('ü')", "free", None), Cell("b", "1/0", "given", "b")),
    names=("double",),
    preload=("json",),
    environment=(("NAME", "value"),),
    files=(("data.bin", b"\0\xff"),),
    cell_seconds=5.0,
)
RUN = CellRun("a", "free", None, "ok", "", "", "ü\n", "", 0.1, 0.0)


@pytest.fixture
def pool() -> Iterator[LocalPool]:
    pool = LocalPool(1)
    yield pool
    pool.close()


def test_work_arrives_as_it_was_sent() -> None:
    assert work_from_bytes(WORK.to_bytes()) == WORK
    assert work_from_bytes(WORK.to_bytes()).digest == WORK.digest


@pytest.mark.parametrize(
    "change",
    [
        {"cells": WORK.cells[:1]},
        {"names": ()},
        {"preload": ()},
        {"environment": ()},
        {"files": (("data.bin", b"\0\xfe"),)},
        {"cell_seconds": 6.0},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_could_change_a_result_changes_the_digest(change: dict[str, object]) -> None:
    assert dataclasses.replace(WORK, **change).digest != WORK.digest  # type: ignore[arg-type]


def test_another_version_of_the_package_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = WORK.to_bytes()
    monkeypatch.setattr(work_module, "own_version", lambda: "0.0.0")
    assert WORK.to_bytes() != sent
    with pytest.raises(UserError, match="they must be the same"):
        work_from_bytes(sent)


def test_other_sources_are_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ran before an edit of this package is no result of the edited one."""
    versions = []
    for text in ("x = 1", "x = 2"):
        (tmp_path / "grade.py").write_text(text)
        monkeypatch.setattr(tflabs, "__file__", str(tmp_path / "__init__.py"))
        versions.append(work_module.own_version.__wrapped__())
    assert len(set(versions)) == 2
    assert {each.partition("+")[0] for each in versions} == {work_module.own_version().partition("+")[0]}


def test_the_journal_gives_back_what_was_kept_for_exactly_this_work(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.keep("lab", "student", "digest", [RUN])
    assert journal.find("lab", "student", "digest") == [RUN]
    assert journal.find("lab", "student", "other") is None
    assert journal.find("lab", "other", "digest") is None
    with journal.recording("lab", "student"):
        journal.forget("lab", "student")
        assert journal.holds("lab", "student")
    assert not journal.holds("lab", "student")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"digest": "digest"}', '{"digest": "digest", "runs": "[{}]"}'])
def test_a_damaged_journal_counts_for_nothing(tmp_path: Path, text: str) -> None:
    journal = Journal(tmp_path)
    journal.keep("lab", "student", "digest", [RUN])
    (tmp_path / "runs/lab/student.json").write_text(text)
    assert journal.find("lab", "student", "digest") is None


def test_a_local_pool_runs_work(pool: LocalPool) -> None:
    first, second = pool.submit(WORK).result()
    assert (first.state, first.stdout) == ("ok", "ü\n")
    assert (second.state, second.ename) == ("error", "ZeroDivisionError")


def test_a_module_that_cannot_be_imported_is_the_works_own_failure(pool: LocalPool) -> None:
    with pytest.raises(Ungradable, match="no_such_module"):
        pool.submit(dataclasses.replace(WORK, preload=("no_such_module",))).result()
    assert pool.submit(WORK).result()


def test_a_closed_pool_says_so(pool: LocalPool) -> None:
    pool.close()
    with pytest.raises(PoolBroken, match="closed"):
        pool.submit(WORK).result()


def test_a_closed_pool_leaves_nothing_of_what_still_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    pool = LocalPool(1)
    future = pool.submit(dataclasses.replace(WORK, cells=(Cell("a", "import time; time.sleep(600)", "free", None),)))
    while not list(tmp_path.glob("tflabs-pool-*/tflabs-work-*/data.bin")):
        time.sleep(0.01)
    pool.close()
    with pytest.raises(PoolBroken, match="closed"):
        future.result()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.timeout(300)
def test_more_jobs_than_one_nursery_holds() -> None:
    works = [dataclasses.replace(WORK, cell_seconds=30.0 + number) for number in range(CHILDREN + 3)]
    pool = LocalPool(CHILDREN + 2)
    try:
        futures = [pool.submit(work) for work in works]
        assert [future.result()[0].stdout for future in futures] == ["ü\n"] * len(works)
    finally:
        pool.close()


@pytest.mark.timeout(300)
def test_the_judge_finds_everything_that_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is foreseen of nbgrader's sanitizing is what it does: nothing is run a second time by the writer."""

    def second_time(*_: object) -> list[CellRun]:
        raise AssertionError("it was to be run again")

    course: Course = pool_cases.prepared(tmp_path / "course", len(pool_cases.KINDS))
    monkeypatch.setenv("PATH", pool_cases.environment(course)["PATH"])
    monkeypatch.setattr(autograde, "execute", second_time)
    journal, outcomes = Journal(course.root / ".grading"), list[Outcome]()
    writer = Writer(course, journal.folder)
    submissions = Submissions(course, writer.coursedir, writer.read_only, writer.cell_seconds)
    pool = LocalPool(2, (str(course.root),))
    try:
        due = submissions.found([toy.LAB], [])
        Grader(submissions, journal, writer, pool, outcomes.append).grade(due)
    finally:
        pool.close()
    assert sorted(each.submission for each in outcomes) == due and len(due) == len(pool_cases.KINDS)
    assert [each for each in outcomes if each.reason] == []
    assert not submissions.is_due(Submission(toy.LAB, due[0].student))

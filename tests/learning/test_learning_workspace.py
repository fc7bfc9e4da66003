"""A learner's folder: copied once, carried over to newer releases, never overwritten."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import nbformat
import pytest

import toy
from tflabs.course.build import build_lab
from tflabs.course.files import read_notebook
from tflabs.course.layout import Course
from tflabs.errors import UserError
from tflabs.grading.report import ExerciseResult, Report, TestResult
from tflabs.learning.progress import Progress
from tflabs.learning.study import write_start_page
from tflabs.learning.workspace import Workspace, bring_up_to_date, is_begun, reset


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "work")


def test_missing_labs_are_copied_once(course: Course, workspace: Workspace) -> None:
    (line,) = bring_up_to_date(course, workspace)
    assert "copied" in line
    assert workspace.notebook(toy.LAB).read_bytes() == course.release(toy.LAB).read_bytes()
    assert list(bring_up_to_date(course, workspace)) == []


def test_work_is_never_overwritten(course: Course, workspace: Workspace) -> None:
    path = toy.save(toy.solved(course), workspace.notebook(toy.LAB))
    before = path.read_bytes()
    assert list(bring_up_to_date(course, workspace)) == []
    assert path.read_bytes() == before


def test_a_newer_release_takes_the_work_over_and_keeps_the_old_notebook(course: Course, workspace: Workspace) -> None:
    path = toy.save(toy.solved(course), workspace.notebook(toy.LAB))
    before = path.read_bytes()
    course.text(toy.LAB).write_text(toy.TEXT.replace("What is a toy?", "What are toys?"), encoding="utf-8")
    build_lab(course, toy.LAB).write()
    (line,) = bring_up_to_date(course, workspace)
    assert "newer release" in line and "1-1-toy.old-1.ipynb" in line
    assert path.with_name("1-1-toy.old-1.ipynb").read_bytes() == before
    texts = [cell.source for cell in read_notebook(path).cells]
    assert "guessed = 4" in texts and any("What are toys?" in text for text in texts)
    assert list(bring_up_to_date(course, workspace)) == []


@pytest.mark.parametrize("content", ["", "{", json.dumps({"nbformat": 3})])
def test_a_broken_notebook_is_left_alone_and_told(course: Course, workspace: Workspace, content: str) -> None:
    path = workspace.notebook(toy.LAB)
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    (line,) = bring_up_to_date(course, workspace)
    assert "left alone" in line and str(path) in line
    assert path.read_text(encoding="utf-8") == content


def test_reset_keeps_every_old_notebook(course: Course, workspace: Workspace) -> None:
    path = workspace.notebook(toy.LAB)
    assert reset(course, workspace, toy.LAB) is None
    kept = []
    for content in ("first", "second"):
        path.write_text(content, encoding="utf-8")
        old = reset(course, workspace, toy.LAB)
        assert old is not None
        kept.append((old.name, old.read_text(encoding="utf-8")))
    assert kept == [("1-1-toy.old-1.ipynb", "first"), ("1-1-toy.old-2.ipynb", "second")]
    assert path.read_bytes() == course.release(toy.LAB).read_bytes()


def test_begun_is_an_answer_that_is_no_stub(course: Course) -> None:
    workspace = Workspace(course.root / "work")
    assert not is_begun(workspace, toy.LAB)
    toy.save(toy.learner_notebook(course), workspace.notebook(toy.LAB))
    assert not is_begun(workspace, toy.LAB)
    toy.save(toy.learner_notebook(course, guess="guessed = 5"), workspace.notebook(toy.LAB))
    assert is_begun(workspace, toy.LAB)


def test_the_start_page_is_made_unless_a_learner_made_it_their_own(workspace: Workspace) -> None:
    write_start_page(workspace)
    made = workspace.start_page.read_bytes()
    write_start_page(workspace)
    assert workspace.start_page.read_bytes() == made
    own = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("mine")])
    before = toy.save(own, workspace.start_page).read_bytes()
    write_start_page(workspace)
    assert workspace.start_page.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the command's test runs as another user")
def test_a_folder_that_cannot_be_written_is_named(course: Course, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="cannot write"):
        list(bring_up_to_date(course, Workspace(tmp_path / "work")))


def report(**points: float) -> Report:
    return Report(
        toy.LAB,
        tuple(
            ExerciseResult(name, name, (TestResult(f"{name}-test", given, 4.0, "" if given == 4 else "no"),))
            for name, given in points.items()
        ),
    )


def test_progress_is_kept_and_a_pass_is_remembered(workspace: Workspace) -> None:
    assert Progress(workspace).points(toy.LAB) is None
    assert Progress(workspace).record(report(guess=4, double=0)) == ["guess"]
    assert Progress(workspace).record(report(guess=0, double=4)) == ["double"]
    kept = Progress(workspace)
    assert kept.points(toy.LAB) == 4
    assert kept.has_passed(toy.LAB, "guess") and kept.has_passed(toy.LAB, "double")
    assert not kept.has_passed(toy.LAB, "other") and not kept.has_passed("1-2-later", "guess")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 9, "labs": {}}', '{"version": 1, "labs": {"a": 3}}'])
def test_a_broken_record_is_moved_aside_never_lost(workspace: Workspace, content: str) -> None:
    workspace.state.mkdir(parents=True)
    (workspace.state / "progress.json").write_text(content, encoding="utf-8")
    kept = Progress(workspace)
    assert "could not be read" in kept.warning
    assert (workspace.state / "progress.broken-1.json").read_text(encoding="utf-8") == content
    kept.record(report(guess=4))
    assert Progress(workspace).has_passed(toy.LAB, "guess")


def _record(root: Path, lab: str) -> None:
    for _ in range(20):
        Progress(Workspace(root)).record(Report(lab, report(guess=4).exercises))


def test_checks_at_the_same_time_lose_nothing(workspace: Workspace) -> None:
    context = multiprocessing.get_context("spawn")
    labs = ["1-1-toy", "1-2-later", "1-3-more"]
    workers = [context.Process(target=_record, args=(workspace.root, lab)) for lab in labs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(Progress(workspace).has_passed(lab, "guess") for lab in labs)

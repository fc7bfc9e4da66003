"""A class that has handed in a lab of this course: all of it, half of it, what is wrong, and nothing."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

from classes import command, hand_in

from tflabs.authoring.answers import read_answers
from tflabs.authoring.solved import solved
from tflabs.course.build import read_source
from tflabs.course.files import read_notebook
from tflabs.course.lab import grade_id
from tflabs.course.layout import Course, find_course
from tflabs.course.syllabus import read_syllabus
from tflabs.grading.boxes import Boxes
from tflabs.grading.examinations import Examination
from tflabs.grading.grade import answer_names, with_full_tests
from tflabs.grading.run import run_cells


def make_course(root: Path, lab: str, notebooks: list[Any]) -> Course:
    """A course with this lab in its gradebook, and these submissions."""
    ours, course = find_course(), Course(root)
    shutil.copytree(ours.text(lab).parent, course.text(lab).parent)
    for path in (ours.syllabus, ours.nbgrader_config, ours.source(lab), ours.release(lab)):
        copied = root / path.relative_to(ours.root)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copied)
    for number, notebook in enumerate(notebooks):
        hand_in(course, lab, number, notebook)
    command(course, "nbgrader", "generate_assignment", lab, "--force")
    return course


def kinds(lab: str) -> list[Any]:
    """Four notebooks: solved, with every second exercise solved, with a wrong answer to each, and untouched."""
    course = find_course()
    source, whole, empty = read_source(course, lab), solved(course, lab), read_notebook(course.release(lab))
    half, wrong = copy.deepcopy(empty), copy.deepcopy(whole)
    done = {exercise.id for exercise in source.exercises[::2]}
    mistakes = {each.exercise: each.source for each in read_answers(course.answers(lab), source) if not each.is_right}
    for number, cell in enumerate(whole.cells):
        name = grade_id(cell) or ""
        if name in done:
            half.cells[number].source = cell.source
        wrong.cells[number].source = mistakes.get(name, cell.source)
    return [whole, half, wrong, empty]


def cells_alone(course: Course, lab: str, notebooks: list[Any]) -> float:
    """Seconds that the cells of these notebooks take in a warm kernel and before an examiner, one after the other."""
    section, source = read_syllabus(course.syllabus).section(lab), read_source(course, lab)
    total = 0.0
    with Boxes((str(course.root),)) as boxes:
        kernels = boxes.kernels(section.preload, section.environment)
        spawn = boxes.examiner(section.preload, section.environment)
        for notebook in notebooks:
            examination = Examination(spawn, answer_names(source))
            cells = with_full_tests(notebook, source).cells
            runs = run_cells(cells, kernels, course.release(lab).parent, examination=examination)
            total += sum(run.seconds for run in runs)
    return total

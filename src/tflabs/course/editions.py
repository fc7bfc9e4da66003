"""Which edition of a lab a notebook was made from, and that edition's tests.

A learner who began with an older release is graded by the tests of that release. They are found where every release
that was ever handed out is kept: in the history of the course's git repository. A course without one (an archive, a
shallow clone) has the current edition only.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflabs.course.build import read_source
from tflabs.course.files import parse_notebook, read_notebook
from tflabs.course.lab import Lab, read_lab
from tflabs.course.layout import Course
from tflabs.course.merge import mark_of
from tflabs.errors import UserError

_EDITION = re.compile(r"[0-9a-f]{12}")
_GIT_SECONDS = 30
_CURRENT = "it is graded by the tests of the current one"


@dataclass(frozen=True)
class Edition:
    """The instructor version and the student version that a notebook is graded by.

    `note` is empty where that is the current edition, which the notebook was made from; else it says what was done.
    """

    lab: Lab
    release: Any
    note: str = ""
    is_current: bool = True


def edition_for(course: Course, name: str, notebook: Any) -> Edition:
    """The edition of the lab `name` that a notebook was made from; the current one if that is not known.

    Raises:
        UserError: the lab is not built.
    """
    lab, release = read_source(course, name), read_notebook(course.release(name))
    wanted, current = mark_of(notebook, "edition"), mark_of(release, "edition")
    if wanted == current:
        return Edition(lab, release)
    if wanted is None:
        return Edition(lab, release, f"the notebook does not say which release it was made from; {_CURRENT}")
    older = _older(course.root, name, wanted) if _EDITION.fullmatch(wanted) else None
    if older is None:
        note = f"the notebook was made from a release ({wanted[:20]!r}) that is not known here; {_CURRENT}"
        return Edition(lab, release, note)
    note = f"the notebook was made from an older release ({wanted}); it is graded by the tests of that release"
    return Edition(*older, note, is_current=False)


@functools.cache
def _older(root: Path, name: str, wanted: str) -> tuple[Lab, Any] | None:
    """The instructor and the student version of an edition, from the commit that brought it."""
    course = Course(Path())
    source, release = (path(name).as_posix() for path in (course.source, course.release))
    for commit in reversed(_git(root, "log", f"-S{wanted}", "--format=%H", "--", source).split()):
        try:
            notebooks = [parse_notebook(_git(root, "show", f"{commit}:./{path}"), path) for path in (source, release)]
            if all(mark_of(notebook, "edition") == wanted for notebook in notebooks):
                return read_lab(notebooks[0], name), notebooks[1]
        except UserError:
            continue  # not built in that commit, or no lab as we know it
    return None


def _git(root: Path, *arguments: str) -> str:
    """What git says; nothing where there is no git, no repository, or no such thing in it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", *arguments]
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, timeout=_GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""

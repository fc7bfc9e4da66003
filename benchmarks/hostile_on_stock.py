"""What stock nbgrader lets through: the hostile corpus of the tests, each submission in a box with a course of its own.

    .venv/bin/python benchmarks/hostile_on_stock.py [--group GROUP] [--name NAME …] [--jobs N] [--json FILE]

A box holds a private copy of a small course: a gradebook with an honest student's grade, canaries, the hostile
submission, and another student's that comes after it. In it the same checks are made as in `tests/grading/hostile`. The
box has limits and no rights, so that this machine is not hurt: what on stock nbgrader only the box of this measurement
stopped is counted as not measured.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "grading" / "hostile")]

import hostile_lab as lab  # noqa: E402
from corruption import CORRUPTIONS  # noqa: E402

import three  # noqa: E402
import toy  # noqa: E402
from tflabs.course.files import notebook_text  # noqa: E402
from tflabs.course.layout import Course  # noqa: E402
from tflabs.grading.sandbox import ForkServer, Limits, python_policy  # noqa: E402

LIMITS = Limits(memory_mib=1200, processes=220, disk_mib=300, inodes=20000, file_mib=256, wall_seconds=150)
SECONDS, PATIENCE = 5, 100  # of a cell, and for the whole submission until its grader is said to hang
# What these do needs rights that the box of the measurement does not give.
NOT_MEASURED = {
    *(
        "opens-a-vsock",
        "reads-packets",
        "changes-interfaces",
        "mounts",
        "remounts-the-system-writable",
        "makes-namespaces",
    ),
    *(
        "enters-namespaces",
        "becomes-root",
        "leaves-a-change-root",
        "makes-a-device",
        "opens-by-handle",
        "uses-io-uring",
    ),
    *("loads-bpf", "reads-keys", "watches-performance", "reboots-and-loads-modules", "changes-settings-of-the-kernel"),
    *("types-into-the-terminal", "traces-a-process", "reads-memory-by-system-call", "rewrites-the-interpreter"),
    *(
        "leaves-through-inherited-descriptors",
        "memory-outside-of-processes",
        "a-file-of-a-terabyte",
        "connects-by-mptcp",
    ),
    *("rewrites-what-judges", "writes-into-site-packages", "writes-a-kernelspec", "fills-the-shared-memory"),
}
SHOWN = "lines of a hidden test in an output"  # which any wrong answer brings about; it is not counted against anyone
# Attacks on parts that stock nbgrader does not have.
NO_SUCH_PART = {
    *(
        "patches-the-agent",
        "patches-the-agent-for-the-witness",
        "patches-the-codec",
        "forges-a-reply-on-the-examiners-socket",
    ),
    *("asks-the-examiner-what-it-tests", "listens-to-the-examiner"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=[*lab.GROUPS, "corruption"])
    parser.add_argument("--name", nargs="*", help="these submissions alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, help="where to write what was found of each submission")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tflabs-stock-") as folder:
        files, submissions = prepare(Path(folder))
        chosen = [
            each
            for each in submissions
            if options.group in (None, each["group"]) and (options.name is None or each["name"] in options.name)
        ]
        environment = {"PYTHONPATH": str(ROOT / "src")}
        policy = python_policy(files, environment, LIMITS, hidden=(str(ROOT / "labs"),))
        lock = threading.Lock()
        with ForkServer(policy, ["nbgrader.apps"]) as server, ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(functools.partial(measure, server, lock), chosen))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(table(results))


def prepare(folder: Path) -> tuple[tuple[tuple[str, bytes], ...], list[dict[str, Any]]]:
    """The files of every box, and the submissions."""
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    course = three.make(folder / "course")
    course.nbgrader_config.unlink()
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.course_id = str(course.root), "tflabs"
    api = NbGraderAPI(config=config)
    assert api.generate_assignment(toy.LAB, force=True)["success"]
    honest = toy.learner_notebook(course, **three.RIGHT)
    honest.cells[0].source += lab.IN_VICTIM
    for student in ("victim", "after"):
        toy.save(honest, course.root / "submitted" / student / toy.LAB / f"{toy.LAB}.ipynb")
    assert api.autograde(toy.LAB, "victim")["success"] and api.generate_feedback(toy.LAB, "victim")["success"]
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        book.update_or_create_student("victim", last_name=lab.IN_BOOK)
    files = [
        (f"course/{path.relative_to(course.root)}", path.read_bytes())
        for path in course.root.rglob("*")
        if path.is_file()
    ]
    modules = [TESTS / "grading" / "hostile" / f"{name}.py" for name in ("corruption", "hostile_scripts")]
    files += [(module.name, module.read_bytes()) for module in modules]
    return tuple(files), submissions(course)


def submissions(course: Course) -> list[dict[str, Any]]:
    names = ("PORT", "UDP", "SOCKET", "ABSTRACT", "COURSE", "HOME", "TMP", "PID")
    kept = {name: f"@{name}@" for name in names}  # filled in where they are known
    made = []
    for group in lab.GROUPS:
        for cell in lab.read_cells(group):
            notebook = notebook_text(lab.notebook_with(course, cell, kept))
            made.append(
                {"name": cell.name, "group": group, "points": cell.points, "notebook": notebook, "corruption": ""}
            )
    lazy = notebook_text(toy.learner_notebook(course, **lab.LAZY))
    spoilt = {"group": "corruption", "notebook": lazy}
    return made + [spoilt | {"name": each.name, "points": each.points, "corruption": each.name} for each in CORRUPTIONS]


def measure(server: ForkServer, lock: Any, submission: dict[str, Any]) -> dict[str, Any]:
    """What came of one submission, in words."""
    result = {"name": submission["name"], "group": submission["group"]}
    if submission["name"] in NOT_MEASURED | NO_SUCH_PART:
        return result | {"came": None}
    source = (Path(__file__).parent / "hostile_observer.py").read_text(encoding="utf-8")
    secrets = {"solution": lab.IN_SOLUTION, "gradebook": lab.IN_BOOK, "file": lab.IN_FILE}
    secrets |= {"environment": lab.IN_ENVIRONMENT, "process": lab.IN_PROCESS, "another student": lab.IN_VICTIM}
    spec = {key: submission[key] for key in ("notebook", "corruption")} | {"secrets": secrets}
    spec |= {"test": lab.IN_TEST, "seconds": SECONDS, "patience": PATIENCE}
    code = (
        f"import sys\nsys.path.insert(0, '')\nexec(compile({source!r}, 'observer', 'exec'), globals())\nmain({spec!r})"
    )
    read, write = os.pipe()
    with lock:
        box = server.start("builtins:exec", [code, {"__name__": "observer"}], stdout=write)
    os.close(write)
    with box, os.fdopen(read, "rb") as said:
        box.wait(LIMITS.wall_seconds + 60)
        verdict = box.verdict
        box.close()
        lines = [line for line in said.read(1 << 22).decode("utf-8", "replace").splitlines() if line.startswith('{"')]
    seen = json.loads(lines[-1]) if lines else {"ended": verdict.words if verdict else "it did not end"}
    came = consequences(seen, submission)
    print(f"{submission['group']:12}{submission['name']:45}{'; '.join(came) or 'contained'}", flush=True)
    return result | {"came": came, "seen": seen}


def consequences(seen: dict[str, Any], submission: dict[str, Any]) -> list[str]:
    if "ended" in seen:
        return ["the grader ended or was ended"]
    if "hung" in seen:
        return ["the grader hung"]
    came = []
    score = seen["score"]
    if score is None:
        came.append("no grade")
    elif score > max(submission["points"]):
        came.append("unearned points")
    elif score < min(submission["points"]):
        came.append("earned points lost")
    if seen["victim"]:
        came.append("another student touched")
    if seen["secrets"]:
        came.append("secrets read")
    if seen["test"]:
        came.append(SHOWN)
    if seen["breach"] or seen["canaries"]:
        came.append("got out")
    if seen["scripts"]:
        came.append("a script on a page")
    if seen["left"]:
        came.append("processes left")
    if seen["kept"] > 3_000_000:
        came.append("megabytes kept")
    if seen["after"] != sum(three.POINTS.values()):
        came.append("the next student affected")
    return came


def table(results: list[dict[str, Any]]) -> str:
    """By group, in Markdown."""
    groups = list(dict.fromkeys(result["group"] for result in results))
    measured = [result for result in results if result["came"] is not None]
    kinds = Counter(kind for result in measured for kind in result["came"])
    lines = ["| | " + " | ".join([*groups, "all"]) + " |", "| --- |" + " ---: |" * (len(groups) + 1)]

    def row(words: str, counted: Any) -> None:
        numbers = [sum(counted(result) for result in results if result["group"] == group) for group in groups]
        lines.append(f"| {words} | " + " | ".join(map(str, [*numbers, sum(numbers)])) + " |")

    row("submissions", lambda result: True)
    row("not measured on stock nbgrader", lambda result: result["came"] is None)
    row("contained by stock nbgrader", lambda result: result["came"] in ([], [SHOWN]))
    for kind, _ in kinds.most_common():
        row(kind, lambda result, kind=kind: kind in (result["came"] or []))
    return "\n".join(lines)


if __name__ == "__main__":
    main()

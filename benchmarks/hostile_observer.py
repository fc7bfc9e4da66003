"""Has stock nbgrader grade one hostile submission, and tells what came of it. `hostile_on_stock.py` runs it in a box.

Nothing of this course's package is used here: nbgrader, its own preprocessors and a plain kernel.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

WORK = Path("/sandbox/work")
COURSE, HOME, TEMPORARY = WORK / "course", Path("/sandbox/home"), Path("/tmp/canary")
LAB, EVE = "1-1-toy", "eve"
MOST_BYTES = 3_000_000
calls: list[str] = []


def main(spec: dict[str, Any]) -> None:
    warnings.simplefilter("ignore")
    places, process = surroundings(spec["secrets"])
    path = COURSE / "submitted" / EVE / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(re.sub(r"@([A-Z]+)@", lambda match: places[match[1]], spec["notebook"]), encoding="utf-8")
    if spec["corruption"]:
        sys.path.insert(0, str(WORK))
        import corruption

        next(each for each in corruption.CORRUPTIONS if each.name == spec["corruption"]).spoil(path, places)
    before = state("victim"), files()
    os.chdir(COURSE)
    api = nbgrader(spec["seconds"])
    step = "grading"

    def hung(*_: object) -> None:
        print(json.dumps({"hung": step}), flush=True)
        os._exit(0)

    signal.signal(signal.SIGALRM, hung)
    signal.alarm(spec["patience"])
    api.autograde(LAB, EVE)
    step = "feedback"
    api.generate_feedback(LAB, EVE)
    step = "the next submission"
    api.autograde(LAB, "after")
    signal.alarm(0)
    print(json.dumps(found(spec, before, process)), flush=True)
    os._exit(0)


def surroundings(secrets: dict[str, str]) -> tuple[dict[str, str], subprocess.Popen[bytes]]:
    """The canaries: files, a process, a variable, listeners."""
    os.environ["GRADER_TOKEN"] = secrets["environment"]
    os.environ["HOME"] = str(HOME)
    TEMPORARY.mkdir()
    for place in (COURSE, HOME, TEMPORARY):
        (place / "secret.txt").write_text(secrets["file"], encoding="utf-8")
    process = subprocess.Popen(["/bin/sleep", "10000"], env={"TOKEN": secrets["process"]})
    tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    by_path, by_name = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    by_path.bind(f"{TEMPORARY}/socket")
    by_name.bind("\0tflabs-hostile")
    for name, each in {"TCP": tcp, "a path": by_path, "a name": by_name, "UDP": udp}.items():
        threading.Thread(target=listen, args=(name, each), daemon=True).start()
    places = {"COURSE": str(COURSE), "HOME": str(HOME), "TMP": str(TEMPORARY), "PID": str(process.pid)}
    places |= {"PORT": str(tcp.getsockname()[1]), "UDP": str(udp.getsockname()[1])}
    return places | {"SOCKET": f"{TEMPORARY}/socket", "ABSTRACT": "tflabs-hostile"}, process


def listen(name: str, each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        if name == "UDP":
            each.recv(100)
        else:
            each.listen()
            each.accept()
        calls.append(name)


def nbgrader(seconds: int) -> Any:
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    config = Config()
    config.CourseDirectory.root = str(COURSE)
    config.CourseDirectory.course_id = "tflabs"
    config.ExecutePreprocessor.timeout = seconds
    api = NbGraderAPI(config=config)
    api.log_level = "ERROR"
    return api


def score(student: str) -> float | None:
    from nbgrader.api import Gradebook

    try:
        with Gradebook(f"sqlite:///{COURSE}/gradebook.db") as book:
            submission = book.find_submission(LAB, student)
            grades = [grade for each in submission.notebooks for grade in each.grades]
            if any(grade.auto_score is None and grade.manual_score is None for grade in grades):
                return None
            return float(submission.score)
    except Exception:
        return None


def state(student: str) -> str:
    made = hashlib.sha256()
    for step in ("submitted", "autograded", "feedback"):
        for path in sorted((COURSE / step / student).rglob("*")):
            made.update(str(path).encode())
            made.update(path.read_bytes() if path.is_file() else b"")
    return f"{made.hexdigest()} {score(student)}"


def files() -> dict[str, str]:
    places = [*TEMPORARY.rglob("*"), *HOME.glob("*.txt"), *(HOME / ".ipython").rglob("0*"), *COURSE.glob("*.txt")]
    places += [*(HOME / ".local").rglob("*.json"), *(HOME / "lib").rglob("*"), *(COURSE / "source").rglob("*")]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in places if path.is_file()}


def found(spec: dict[str, Any], before: tuple[str, dict[str, str]], process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """What is to be told of the submission."""
    sys.path.insert(0, str(WORK))
    from hostile_scripts import scripts_in

    graded = COURSE / "autograded" / EVE / LAB / f"{LAB}.ipynb"
    pages = [path for path in (COURSE / "feedback" / EVE).rglob("*") if path.is_file()]
    texts = [path.read_bytes().decode("utf-8", "replace") for path in pages]
    kept = sum(path.stat().st_size for path in (COURSE / "autograded" / EVE).rglob("*") if path.is_file())
    outputs = ""
    if graded.is_file():
        cells = json.loads(graded.read_text(encoding="utf-8"))["cells"]
        outputs = json.dumps([cell.get("outputs", []) for cell in cells], ensure_ascii=False)
        texts.append(outputs)
        pages.append(graded)
    after = COURSE / "autograded" / "after" / LAB / f"{LAB}.ipynb"
    planted = "PLANTED" in (after.read_text(encoding="utf-8") if after.is_file() else "")
    time.sleep(0.2)
    return {
        "score": score(EVE),
        "victim": state("victim") != before[0],
        "secrets": [name for name, secret in spec["secrets"].items() if any(secret in text for text in texts)],
        # Its feedback shows every hidden test to everyone, whatever was submitted.
        "test": spec["test"] in outputs,
        "breach": any("BREACH" in text for text in texts),
        "canaries": [*calls, *(["process"] if process.poll() is not None else []), *changed(before[1])],
        "scripts": [
            each
            for page, text in zip(pages, texts, strict=False)
            if page.suffix == ".html"
            for each in scripts_in(text)
        ],
        "left": len(strangers(process.pid)),
        "kept": kept,
        "after": "planted" if planted else score("after"),
    }


def changed(before: dict[str, str]) -> list[str]:
    now = files()
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def strangers(own: int) -> list[int]:
    """Processes that nobody waits for."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    return [
        pid
        for pid in pids
        if pid not in (1, os.getpid(), os.getppid(), own) and Path(f"/proc/{pid}/cmdline").read_bytes()
    ]

"""A course whose grader can be watched: what a submission reaches of what is around it, and what it leaves.

Around it lie secrets (in files, processes, the environment, the gradebook, hidden tests), things that can be broken (an
honest student's work, the grader's files, a process), and sockets where something listens. `Arena.grade` has one
submission graded and gives what was seen; `Seen.breaches` says what of it must not be.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hostile_lab as lab
import nbformat
import psutil
from hostile_scripts import scripts_in

import three
import toy
from grader import Grader, replaced
from tflabs.course.layout import Course
from tflabs.grading.sandbox import Limits
from waiting import eventually

VICTIM, LATER = "victim", "after"
SMALL = Limits(memory_mib=512, processes=160, disk_mib=48, inodes=2000, file_mib=16, open_files=256)
SECONDS = 3.0  # that a cell may take
MOST_BYTES = 3_000_000  # of what is kept of a submission


@dataclass(frozen=True)
class Seen:
    """What became of one submission.

    `score` is None without a grade. `told` is what the graded notebook holds beside its sources; `given` is what the
    student gets to read.
    """

    score: float | None
    log: str
    told: str
    given: str = field(repr=False)
    kept: int
    unexplained: list[str]
    victim_changed: bool
    canaries: list[str]
    left: list[str]
    scripts: list[str]

    def breaches(self, points: tuple[float, ...], secrets_may_leak: bool = False) -> list[str]:
        """What must not be, in words."""
        found = [*self.canaries, *self.left, *(f"script on a page: {text}" for text in self.scripts)]
        if self.score not in points:
            found.append(f"its score is {self.score}, not {' or '.join(map(str, points))}")
        if self.victim_changed:
            found.append("the honest student's grade or files changed")
        if not secrets_may_leak:
            found += [f"read {secret}" for secret in lab.SECRETS if secret in self.told or secret in self.given]
        if "BREACH" in self.told:
            found.append(self.told[self.told.index("BREACH") :][:100])
        if self.kept > MOST_BYTES:
            found.append(f"{self.kept} bytes of it are kept")
        return found + [f"no reason is given for {name}" for name in self.unexplained]


@dataclass
class Listener:
    """Sockets at which nobody may call."""

    folder: Path
    calls: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stopped = False
        tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        path, abstract = f"{self.folder}/socket", f"tflabs-hostile-{os.getpid()}"
        by_path, by_name = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        by_path.bind(path)
        Path(path).chmod(0o777)
        by_name.bind(f"\0{abstract}")
        self.places = {"PORT": str(tcp.getsockname()[1]), "UDP": str(udp.getsockname()[1])}
        self.places |= {"SOCKET": path, "ABSTRACT": abstract}
        for name, each in {"TCP": tcp, "a path": by_path, "a name": by_name, "UDP": udp}.items():
            if name != "UDP":
                each.listen()
            each.settimeout(0.2)
            threading.Thread(target=self._listen, args=(name, each), daemon=True).start()

    def _listen(self, name: str, each: socket.socket) -> None:
        with each:
            while not self._stopped:
                with contextlib.suppress(TimeoutError):
                    if name == "UDP":
                        each.recv(100)
                    else:
                        each.accept()[0].close()
                    self.calls.append(f"someone called by {name}")

    def close(self) -> None:
        self._stopped = True


class Arena:
    """The course, its gradebook with an honest student, and all canaries. One for many submissions."""

    def __init__(self, folder: Path) -> None:
        self._stack = contextlib.ExitStack()
        self.root = folder / "course"
        self.home = folder / "home"
        self.temporary = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="canary-", dir="/tmp")))
        # The grader's own temporary files lie where nobody else's do, so that what is left there is seen.
        self.own_temporary = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="grader-", dir="/tmp")))
        self._set("TMPDIR", str(self.own_temporary))
        self._stack.enter_context(replaced(tempfile, "tempdir", str(self.own_temporary)))
        for place in (self.root, self.home, self.temporary):
            place.mkdir(exist_ok=True)
            place.chmod(0o777)
            (place / "secret.txt").write_text(lab.IN_FILE, encoding="utf-8")
            (place / "secret.txt").chmod(0o666)
        self.listener = Listener(self.temporary)
        self._stack.callback(self.listener.close)
        self._set("GRADER_TOKEN", lab.IN_ENVIRONMENT)
        self._set("HOME", str(self.home))
        environment = {"PATH": "/usr/bin:/bin", "TOKEN": lab.IN_PROCESS}
        self.process = subprocess.Popen(["/bin/sleep", "10000"], env=environment)
        self._stack.callback(lambda: (self.process.kill(), self.process.wait()))
        self.places = self.listener.places | {
            "COURSE": str(self.root),
            "HOME": str(self.home),
            "TMP": str(self.temporary),
            "PID": str(self.process.pid),
        }
        self.grader = Grader(three.make(self.root), SECONDS, SMALL)
        self._stack.callback(self.grader.close)
        self._begin()

    def close(self) -> None:
        self._stack.close()

    def _set(self, name: str, value: str) -> None:
        before = os.environ.get(name)
        os.environ[name] = value
        self._stack.callback(lambda: os.environ.pop(name) if before is None else os.environ.update({name: before}))

    def _begin(self) -> None:
        honest = toy.learner_notebook(self.course, **three.RIGHT)
        honest.cells.append(nbformat.v4.new_markdown_cell(lab.IN_VICTIM))
        for student in (VICTIM, LATER):
            self.grader.submit(student, honest)
        self.grader.autograde(VICTIM)
        self.grader.feedback(VICTIM)
        with self.grader.book() as book:
            book.update_or_create_student(VICTIM, last_name=lab.IN_BOOK)
        assert self.grader.score(VICTIM) == sum(three.POINTS.values()), self.grader.told(VICTIM)
        self._victim = self._state_of_victim()
        self._files = self._state_of_files()
        self._temporary = self._temporary_files()
        self._mounts = self._mounted()

    @property
    def course(self) -> Course:
        return self.grader.course

    def grade(self, student: str) -> Seen:
        """Have a submission graded, and look around."""
        before = self._processes()
        self.listener.calls.clear()
        log = self.grader.autograde(student)
        given = [path.read_bytes().decode("utf-8", "replace") for path in self.grader.feedback(student)]
        left = self._left(before)
        canaries = [*self.listener.calls, *([] if self.process.poll() is None else ["the process ended"])]
        pages = [*(text for text in given if text.startswith("<!DOCTYPE")), self.grader.graders_page(student)]
        kept = [path for path in self.root.glob(f"autograded/{student}/**/*") if path.is_file()]
        return Seen(
            score=self.grader.score(student),
            log=log,
            told=self.grader.told(student),
            given="\n".join(given),
            kept=sum(path.stat().st_size for path in kept),
            unexplained=_unexplained(self.grader.graded(student)),
            victim_changed=self._state_of_victim() != self._victim,
            canaries=canaries + [f"changed: {name}" for name in self._changed_files()],
            left=left,
            scripts=[script for page in pages for script in scripts_in(page)],
        )

    # ------------------------------------------------------------------------------------------------ what is around

    def _state_of_victim(self) -> str:
        state = hashlib.sha256()
        for step in ("submitted", "autograded", "feedback"):
            for path in sorted(self.grader.folder(step, VICTIM).rglob("*")):
                state.update(f"{path} {path.stat().st_mode}".encode())
                state.update(path.read_bytes())
        return f"{state.hexdigest()} {self.grader.score(VICTIM)}"

    def _state_of_files(self) -> dict[str, str]:
        """What lies in the course beside submissions, in HOME and in the folder for temporary files."""
        places = [self.home, self.temporary, *(self.root / name for name in ("source", "release", "labs"))]
        files = [path for place in places for path in place.rglob("*")] + [*self.root.glob("*.*")]
        skipped = {"gradebook.db", "gradebook.db-journal", "socket"}
        kept = [path for path in files if path.name not in skipped and "__pycache__" not in path.parts]
        return {str(path): _digest(path) for path in kept if not path.name.startswith("gradebook")}

    def _changed_files(self) -> list[str]:
        now = self._state_of_files()
        return sorted(name for name in self._files.keys() | now.keys() if self._files.get(name) != now.get(name))

    def _processes(self) -> set[int]:
        return {child.pid for child in psutil.Process().children(recursive=True)}

    def _temporary_files(self) -> set[str]:
        return {path.name for path in self.own_temporary.iterdir()}

    def _mounted(self) -> str:
        return Path("/proc/self/mounts").read_text(encoding="utf-8")

    def _left(self, before: set[int]) -> list[str]:
        """What outlives a submission: its processes, files among the grader's temporary ones, mounts."""
        found: list[str] = []

        def alone() -> bool:
            found[:] = [f"a process is left: {_command(pid)}" for pid in self._processes() - before]
            found.extend(f"a temporary file is left: {name}" for name in self._temporary_files() - self._temporary)
            return not found

        eventually(alone, 10.0)
        return found + (["mounts are left"] if self._mounted() != self._mounts else [])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"


def _command(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())[:100]
    except psutil.Error:
        return "?"


def _unexplained(notebook: Any) -> list[str]:
    """Exercises that did not get all points, and no word about it."""
    if notebook is None:
        return ["the whole submission"]
    tests = [cell for cell in notebook.cells if str(cell.get("id", "")).endswith("-test") and cell.cell_type == "code"]
    silent = [
        each["id"] for each in tests if any(not str(output.get("evalue", "x")).strip() for output in each.outputs)
    ]
    return silent + ([] if len(tests) == len(three.POINTS) else ["a test that is missing"])

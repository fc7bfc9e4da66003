"""Submissions that are spoilt themselves: files that are no notebooks, notebooks full of tricks, folders of traps.

Each function spoils a submission: `path` is its notebook, which lazily answers (1 point) and which nobody opened yet.
`PLACES` are as in the cells of the corpus. A corruption says which score it may get, and what must be said of it.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Places = dict[str, str]
Spoil = Callable[[Path, Places], None]


@dataclass(frozen=True)
class Corruption:
    """`points`: all scores that may come of it. `must`: a pattern that the graded notebook or the log must hold."""

    name: str
    points: tuple[float, ...]
    must: str
    spoil: Spoil


CORRUPTIONS: list[Corruption] = []


def spoils(must: str = "", points: tuple[float, ...] = (1.0,)) -> Callable[[Spoil], Spoil]:
    def register(spoil: Spoil) -> Spoil:
        CORRUPTIONS.append(Corruption(spoil.__name__.replace("_", "-"), points, must, spoil))
        return spoil

    return register


def edited(path: Path, edit: Callable[[Any], object]) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    edit(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def cell(data: Any, name: str) -> Any:
    return next(each for each in data["cells"] if each["id"] == name)


# ---------------------------------------------------------------------------------------- files that are no notebook


@spoils("no JSON", (0.0,))
def broken_json(path: Path, places: Places) -> None:
    path.write_text(path.read_text(encoding="utf-8")[:-200], encoding="utf-8")


@spoils("is empty", (0.0,))
def an_empty_file(path: Path, places: Places) -> None:
    path.write_bytes(b"")


@spoils("not a text file in UTF-8", (0.0,))
def bytes_that_are_no_text(path: Path, places: Places) -> None:
    path.write_bytes(bytes(range(256)) * 10)


@spoils("no JSON|nested", (0.0,))
def a_hundred_thousand_brackets(path: Path, places: Places) -> None:
    path.write_text("[" * 100_000 + "]" * 100_000, encoding="utf-8")


@spoils("nested|", (0.0, 1.0))
def metadata_that_is_deep(path: Path, places: Places) -> None:
    deep = "{" + '"a":{' * 400 + "}" * 400 + "}"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"metadata": {', f'"metadata": {{"deep": {deep}, ', 1), encoding="utf-8")


@spoils("is not a notebook", (0.0,))
def a_list(path: Path, places: Places) -> None:
    path.write_text("[1, 2]", encoding="utf-8")


@spoils("format 3", (0.0,))
def notebook_format_3(path: Path, places: Places) -> None:
    edited(path, lambda data: data.update(nbformat=3, worksheets=[{"cells": data.pop("cells")}]))


@spoils("format 99", (0.0,))
def notebook_format_99(path: Path, places: Places) -> None:
    edited(path, lambda data: data.update(nbformat=99))


@spoils("", (0.0, 1.0))
def a_minor_format_that_is_a_text(path: Path, places: Places) -> None:
    edited(path, lambda data: data.update(nbformat_minor="5; drop table grade"))


@spoils("", (0.0, 1.0))
def a_minor_format_of_the_future(path: Path, places: Places) -> None:
    edited(path, lambda data: data.update(nbformat_minor=10**6))


@spoils("no JSON|number", (0.0, 1.0))
def a_number_of_a_million_digits(path: Path, places: Places) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"nbformat_minor": 5', f'"x": {"9" * 10**6}, "nbformat_minor": 5'), encoding="utf-8")


@spoils("", (0.0, 1.0))
def numbers_that_are_none(path: Path, places: Places) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace('"metadata": {', '"metadata": {"a": NaN, "b": -Infinity, "c": 1e999, ', 1), encoding="utf-8"
    )


@spoils("", (0.0, 1.0))
def half_a_character(path: Path, places: Places) -> None:
    edited(
        path,
        lambda data: data["cells"].insert(
            0, {"cell_type": "markdown", "metadata": {}, "source": "x\ud800y", "id": "s"}
        ),
    )


@spoils("", (0.0, 1.0))
def control_characters(path: Path, places: Places) -> None:
    odd = "".join(map(chr, range(1, 32))) + "\u202e\u2028\ufeff\x7f"
    edited(
        path, lambda data: data["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": odd, "id": "c"})
    )


@spoils("cell 1", (0.0,))
def cells_that_are_none(path: Path, places: Places) -> None:
    edited(path, lambda data: data.update(cells=[1, None, "x", {"cell_type": {}}, *data["cells"]]))


@spoils("unknown type", (0.0,))
def a_cell_of_an_unknown_type(path: Path, places: Places) -> None:
    edited(path, lambda data: data["cells"].append({"cell_type": "../code", "metadata": {}, "source": "", "id": "u"}))


# ------------------------------------------------------------------------------------------ notebooks full of tricks


@spoils("is the notebook of the lab", (0.0,))
def the_notebook_of_another_lab(path: Path, places: Places) -> None:
    edited(path, lambda data: data["metadata"]["tflabs"].update(lab="1-2-later"))


@spoils("none of the lab's exercises", (0.0,))
def a_notebook_of_nothing(path: Path, places: Places) -> None:
    edited(path, lambda data: (data.update(cells=[]), data["metadata"].clear()))


@spoils("", (0.0, 1.0))
def fifty_megabytes_of_output(path: Path, places: Places) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": ["x" * 1000 + "\n"] * 50_000}
    edited(path, lambda data: cell(data, "double")["outputs"].append(output))


@spoils("", (0.0, 1.0))
def outputs_of_every_kind(path: Path, places: Places) -> None:
    outputs = [1, None, {}, {"output_type": "x"}, {"output_type": "stream", "text": 3}, {"output_type": "error"}]
    edited(path, lambda data: [each.update(outputs=outputs) for each in data["cells"] if each["cell_type"] == "code"])


@spoils()
def outputs_of_a_passed_test(path: Path, places: Places) -> None:
    value = {"output_type": "execute_result", "data": {"text/plain": "4.0"}, "metadata": {}, "execution_count": 1}
    edited(path, lambda data: cell(data, "double-test").update(outputs=[value], execution_count=7))


@spoils("was changed")
def tests_that_pass(path: Path, places: Places) -> None:
    edited(path, lambda data: [cell(data, f"{name}-test").update(source="4.0") for name in ("double", "triple")])


@spoils("was missing")
def tests_that_are_gone(path: Path, places: Places) -> None:
    edited(path, lambda data: data.update(cells=[each for each in data["cells"] if not each["id"].endswith("-test")]))


@spoils()
def more_points_by_metadata(path: Path, places: Places) -> None:
    def edit(data: Any) -> None:
        for each in data["cells"]:
            keys = each["metadata"].get("nbgrader")
            if keys and keys["grade"]:
                keys.update(points=1000, checksum="0" * 32, schema_version=3)

    edited(path, edit)


@spoils()
def an_answer_that_is_a_test(path: Path, places: Places) -> None:
    edited(path, lambda data: cell(data, "double")["metadata"]["nbgrader"].update(grade=True, points=50, solution=True))


@spoils()
def a_test_that_is_an_answer(path: Path, places: Places) -> None:
    keys = {"grade": False, "solution": True, "locked": False}
    edited(
        path,
        lambda data: (
            cell(data, "double-test").update(source="pass")
            or cell(data, "double-test")["metadata"]["nbgrader"].update(keys)
        ),
    )


@spoils()
def a_graded_cell_of_its_own(path: Path, places: Places) -> None:
    keys = {"grade": True, "grade_id": "bonus", "locked": True, "points": 100, "schema_version": 3, "solution": False}
    new = {"cell_type": "code", "metadata": {"nbgrader": keys | {"task": False}}, "source": "100", "id": "bonus"}
    edited(path, lambda data: data["cells"].append(new | {"outputs": [], "execution_count": None}))


@spoils()
def a_task_of_its_own(path: Path, places: Places) -> None:
    keys = {"grade": False, "grade_id": "task", "locked": True, "points": 100, "schema_version": 3, "solution": False}
    new = {"cell_type": "markdown", "metadata": {"nbgrader": keys | {"task": True}}, "source": "100", "id": "task"}
    edited(path, lambda data: data["cells"].append(new))


@spoils()
def schemas_of_every_age(path: Path, places: Places) -> None:
    def edit(data: Any) -> None:
        versions = iter([0, 1, 2, 99, "3", None, -1] * 3)
        for each in data["cells"]:
            if "nbgrader" in each["metadata"]:
                each["metadata"]["nbgrader"]["schema_version"] = next(versions)

    edited(path, edit)


@spoils("", (0.0, 1.0))
def metadata_of_every_type(path: Path, places: Places) -> None:
    def edit(data: Any) -> None:
        odd = iter([[], 1, None, "x", {"grade_id": []}, {"grade_id": {}}, {"grade": "yes"}, True] * 5)
        for each in data["cells"]:
            each["metadata"]["nbgrader"] = next(odd)
        data["metadata"].update(kernelspec=[], language_info="python", tflabs=7, widgets=[1], celltoolbar={})

    edited(path, edit)


@spoils("there 3 times|there 2 times")
def cells_that_are_there_twice(path: Path, places: Places) -> None:
    edited(path, lambda data: data.update(cells=data["cells"] + data["cells"]))


@spoils()
def ids_that_are_there_twice(path: Path, places: Places) -> None:
    new = {
        "cell_type": "code",
        "metadata": {},
        "source": "def double(x): return 2 * x",
        "outputs": [],
        "execution_count": None,
    }
    edited(path, lambda data: data["cells"].extend([new | {"id": "double-test"}, new | {"id": "double-test"}]))


@spoils("", (0.0, 1.0))
def ids_that_are_odd(path: Path, places: Places) -> None:
    def edit(data: Any) -> None:
        odd = iter(["", "x" * 10_000, "../../x", "<script>tapirscript()</script>", 7, None, [], "a\u0000b"] * 5)
        for each in data["cells"]:
            if "nbgrader" not in each["metadata"]:
                each["id"] = next(odd)

    edited(path, edit)


@spoils("named the kernel")
def a_kernel_of_its_own(path: Path, places: Places) -> None:
    spec = {"name": "../../../tmp/evil", "display_name": "<script>tapirscript()</script>", "language": "python"}
    edited(path, lambda data: data["metadata"].update(kernelspec=spec))


@spoils("named the kernel")
def a_kernel_of_another_language(path: Path, places: Places) -> None:
    spec = {"name": "bash", "display_name": "Bash", "language": "bash", "argv": ["touch", f"{places['TMP']}/argv"]}
    info = {"name": "bash", "pygments_lexer": "<script>tapirscript()</script>", "file_extension": "/../../x.sh"}
    edited(path, lambda data: data["metadata"].update(kernelspec=spec, language_info=info))


@spoils("named the kernel")
def a_kernel_whose_name_is_a_script(path: Path, places: Places) -> None:
    spec = {"name": "<img src=x onerror=tapirscript()>", "display_name": "x", "language": "python"}
    edited(path, lambda data: data["metadata"].update(kernelspec=spec))


@spoils("is not known here")
def an_edition_that_is_none(path: Path, places: Places) -> None:
    edited(path, lambda data: data["metadata"]["tflabs"].update(edition="--output=<script>tapirscript()</script>"))


@spoils()
def tags_that_skip_cells(path: Path, places: Places) -> None:
    tags = {"tags": ["skip-execution", "raises-exception", "remove-cell", "nbval-skip", '" onmouseover="tapirscript()']}
    edited(path, lambda data: [each["metadata"].update(tags) for each in data["cells"]])


@spoils()
def marks_of_the_grader(path: Path, places: Places) -> None:
    note = {
        "cell_type": "markdown",
        "metadata": {},
        "source": "**Put right before grading**\n\n- full marks",
        "id": "put-right-before-grading",
    }
    edited(path, lambda data: data["cells"].insert(0, note))


@spoils("", (0.0, 1.0))
def attachments(path: Path, places: Places) -> None:
    odd = {
        "../../x.png": {"image/png": "AAAA"},
        'x" onerror="tapirscript()': {"text/html": "<script>tapirscript()</script>"},
        "y": [],
    }
    note = {
        "cell_type": "markdown",
        "metadata": {},
        "source": "![x](attachment:../../x.png) ![y](attachment:y)",
        "id": "a",
    }
    edited(path, lambda data: data["cells"].insert(0, note | {"attachments": odd}))


@spoils("", (0.0, 1.0))
def state_of_widgets(path: Path, places: Places) -> None:
    state = {"application/vnd.jupyter.widget-state+json": {"state": {"x": "</script><script>tapirscript()</script>"}}}
    edited(path, lambda data: data["metadata"].update(widgets=state, title="<script>tapirscript()</script>"))


@spoils("", (0.0, 1.0))
def three_hundred_cells(path: Path, places: Places) -> None:
    many = [{"cell_type": "markdown", "metadata": {}, "source": "x", "id": f"m{n}"} for n in range(300)]
    edited(path, lambda data: data["cells"].extend(many))


@spoils("", (0.0, 1.0))
def a_raw_cell_of_html(path: Path, places: Places) -> None:
    raw = {
        "cell_type": "raw",
        "metadata": {"raw_mimetype": "text/html"},
        "source": "<script>tapirscript()</script>",
        "id": "raw",
    }
    edited(path, lambda data: data["cells"].insert(0, raw))


@spoils("", (0.0, 1.0))
def the_learners_own_text_as_a_given_cell(path: Path, places: Places) -> None:
    edited(
        path,
        lambda data: cell(data, "given-imports").update(
            source="def double(x): return 2 * x\nimport builtins\nbuiltins.abs = len"
        ),
    )


# --------------------------------------------------------------------------------------------- folders full of traps


@spoils("gradebook.txt' was left out")
def a_link_to_the_gradebook(path: Path, places: Places) -> None:
    path.with_name("gradebook.txt").symlink_to(f"{places['COURSE']}/gradebook.db")
    path.with_name("secret.txt").symlink_to(f"{places['COURSE']}/secret.txt")


@spoils("notes' was left out")
def a_link_to_a_folder(path: Path, places: Places) -> None:
    path.with_name("notes").symlink_to(f"{places['COURSE']}/source")
    path.with_name("loop").symlink_to(".")


@spoils("1-1-toy.ipynb' was left out", (0.0,))
def a_link_to_anothers_notebook(path: Path, places: Places) -> None:
    path.unlink()
    path.symlink_to(f"{places['COURSE']}/submitted/victim/1-1-toy/1-1-toy.ipynb")


@spoils("zeros' was left out")
def a_link_to_a_device(path: Path, places: Places) -> None:
    path.with_name("zeros").symlink_to("/dev/zero")


@spoils("pipe' was left out")
def a_pipe(path: Path, places: Places) -> None:
    os.mkfifo(path.with_name("pipe"))


@spoils("1-1-toy.ipynb' was left out", (0.0,))
def a_pipe_for_a_notebook(path: Path, places: Places) -> None:
    path.unlink()
    os.mkfifo(path)


@spoils("socket' was left out")
def a_socket(path: Path, places: Places) -> None:
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path.parent)  # a socket's path must be short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket")
    finally:
        os.fchdir(here)
        os.close(here)


@spoils("huge.bin' was left out")
def a_file_of_a_terabyte(path: Path, places: Places) -> None:
    with path.with_name("huge.bin").open("wb") as file:
        file.truncate(1 << 40)


@spoils("was left out")
def many_files(path: Path, places: Places) -> None:
    folder = path.with_name("many")
    folder.mkdir()
    for number in range(1200):
        (folder / str(number)).touch()


@spoils("", (0.0, 1.0))
def names_that_are_odd(path: Path, places: Places) -> None:
    for name in (
        "n" * 255,
        "new\nline",
        "-rf",
        "\x1b[31mred",
        "<script>tapirscript()</script>"[:-9],
        "*",
        "[a]",
        " ",
        "…",
    ):
        path.with_name(name).write_text("x", encoding="utf-8")
    (path.parent / os.fsdecode(b"\xff\xfe")).write_text("x", encoding="utf-8")


@spoils("onerror", (0.0, 1.0))
def a_notebook_whose_name_is_a_script(path: Path, places: Places) -> None:
    path.rename(path.with_name("<img src=x onerror=tapirscript()>.ipynb"))


@spoils("", (0.0, 1.0))
def a_notebook_in_checkpoints_too(path: Path, places: Places) -> None:
    path.with_name(".ipynb_checkpoints").symlink_to(f"{places['COURSE']}/source")
    path.with_name("2-other.ipynb").write_text("{}", encoding="utf-8")


@spoils("1-1-toy.ipynb' was left out", (0.0,))
def a_folder_for_a_notebook(path: Path, places: Places) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").touch()


@spoils("timestamp.txt' was left out")
def a_time_that_is_none(path: Path, places: Places) -> None:
    path.with_name("timestamp.txt").write_text("yesterday, I swear", encoding="utf-8")


@spoils("timestamp.txt' was left out")
def a_time_that_is_a_link(path: Path, places: Places) -> None:
    path.with_name("timestamp.txt").symlink_to(f"{places['COURSE']}/secret.txt")


@spoils()
def names_of_the_graders_own(path: Path, places: Places) -> None:
    for name in ("k-1", "k-2", "kernel.json", "x1"):
        path.with_name(name).write_text("{}", encoding="utf-8")
    (path.parent / "x2").mkdir()
    (path.parent / "x2" / "file").touch()


EARLY = """
import builtins, sys
builtins.AssertionError = Warning
for name, module in list(sys.modules.items()):
    if name.startswith("tflabs.grading.examiner"):
        for each in ("exec", "sha256", "marshal"):
            module.__dict__[each] = lambda *a, **k: None
"""


@spoils()
def modules_that_come_before_the_witness(path: Path, places: Places) -> None:
    for name in ("http", "gzip", "cmd", "code", "bdb", "pdb", "mimetypes", "pydoc", "stringprep", "typing", "_hashlib"):
        path.with_name(f"{name}.py").write_text(EARLY, encoding="utf-8")


@spoils("", (0.0, 1.0))
def modules_beside_it(path: Path, places: Places) -> None:
    for name in ("json.py", "random.py", "numpy.py", "tflabs.py", "ipykernel.py", "sitecustomize.py", "typing.py"):
        path.with_name(name).write_text("print('PLANTED')\nrandrange = SystemRandom = None\n", encoding="utf-8")
    path.with_name("nbgrader_config.py").write_text("c.Judge.backend = 'none'\n", encoding="utf-8")
    path.with_name("kernel.json").write_text("{}", encoding="utf-8")

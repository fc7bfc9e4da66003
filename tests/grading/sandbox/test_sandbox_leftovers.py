"""What a box leaves is read without trust, and removed without following anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sandbox_cases import BACKENDS, launched

from tflabs.grading.sandbox import UnsafeFile, removal, safe_names, safe_read
from tflabs.grading.sandbox.removal import remove_tree

PLANT = """
import os, socket
def quietly(function, *arguments):
    try: function(*arguments)
    except OSError: pass
open('result.json', 'w').write('{"points": 1}')
os.symlink('/etc/passwd', 'link'); os.symlink('result.json', 'inner'); os.symlink('/', 'root')
os.mkdir('folder'); open('folder/x', 'w').write('x'); os.symlink('folder', 'way')
quietly(os.mkfifo, 'fifo')
open('one', 'w').write('x'); os.link('one', 'two')
open('big', 'wb').write(bytes(5000))
open('closed', 'w').write('x'); os.chmod('closed', 0)
socket.socket(socket.AF_UNIX).bind('socket')
open('n\\new line', 'w').close(); open('\\x1b[31m', 'w').close(); open(b'\\xff\\xfe', 'w').close()
open('-rf', 'w').close()
"""
REFUSED = ("link", "inner", "root/etc/passwd", "way/x", "fifo", "one", "two", "big", "folder", "socket", "missing")
OUTSIDE = ("../work/result.json", "/etc/passwd", "folder/../../x", "", ".", "a\0b", "x" * 5000)


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_a_plain_small_file_is_read(backend: str) -> None:
    with launched(PLANT, backend) as box:
        assert box.wait(60) == 0, box.verdict
        assert safe_read(box.folder, "result.json", 1000) == b'{"points": 1}'
        assert safe_read(box.folder, "folder/x", 1000) == b"x"
        for name in (*REFUSED, *OUTSIDE):
            with pytest.raises(UnsafeFile):
                safe_read(box.folder, name, 1000)
        assert len(safe_read(box.folder, "big", 5000)) == 5000
        assert safe_names(box.folder) == ["-rf", "big", "closed", "one", "result.json", "two"]


def test_a_file_that_grows_or_is_exchanged_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        assert safe_read(descriptor, "file", 10) == b"x" * 10
        with pytest.raises(UnsafeFile, match="10 bytes; at most 9"):
            safe_read(descriptor, "file", 9)
    finally:
        os.close(descriptor)


def test_the_folder_of_a_box_without_its_own_file_system_is_removed() -> None:
    deep = "import os\nfor n in range(150): os.mkdir('d' * 100); os.chdir('d' * 100)\n"
    with launched(PLANT + deep + "os.chmod('.', 0)", "landlock") as box:
        assert box.wait(60) == 0, box.verdict
        folder = box.folder.parent
        assert folder.is_dir()
    assert not folder.exists()
    assert Path("/etc/passwd").is_file()


def test_removal_follows_no_link_and_bears_any_depth(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "precious").write_text("x")
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(kept)
    (top / "0").mkdir()
    (top / "0" / "1").mkdir()
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(top)
        for _ in range(1200):
            os.mkdir("d")  # noqa: PTH102 (a path would be longer than the kernel takes)
            os.chdir("d")
        os.symlink(kept, "link")  # noqa: PTH211
    finally:
        os.fchdir(here)
        os.close(here)
    remove_tree(str(top))
    assert not top.exists() and (kept / "precious").read_text() == "x"
    remove_tree(str(top))  # nothing there is nothing to do


def test_removal_bears_that_somebody_else_removes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Jupyter's client does with its sockets when a kernel has ended."""
    top = tmp_path / "top"
    for folder in (top, top / "a", top / "a" / "b"):
        folder.mkdir()
        for name in ("k-1", "k-2", "other"):
            (folder / name).touch()
    listed = os.listdir

    def while_others_remove(folder: int) -> list[str]:
        names = listed(folder)
        for name in names:
            if name.startswith("k-"):
                os.unlink(name, dir_fd=folder)
        return names

    monkeypatch.setattr(removal.os, "listdir", while_others_remove)
    remove_tree(str(top))
    assert not top.exists()

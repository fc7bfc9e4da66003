"""Folders that a test and the learner's code both use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tflabs.runtime import shared_folder


def test_files_go_in_and_come_out_by_value_and_the_folder_goes_away() -> None:
    with shared_folder({"a": b"1", "under/b": b"2"}) as folder:
        assert Path(folder.path, "under", "b").read_bytes() == b"2"
        Path(folder.path, "c").write_bytes(b"3")
        folder.write({"a": b"4"})
        assert folder.files() == {"a": b"4", "c": b"3", "under/b": b"2"}
    assert not Path(folder.path).exists()


def test_a_snapshot_is_a_copy() -> None:
    with shared_folder({"under/b": b"2"}) as folder:
        with folder.snapshot() as copy:
            Path(copy, "under", "b").write_bytes(b"other")
            assert copy != folder.path
        assert folder.files() == {"under/b": b"2"}
        assert not Path(copy).exists()


def test_the_folder_goes_away_after_an_error() -> None:
    with pytest.raises(KeyError), shared_folder() as folder:
        raise KeyError
    assert not Path(folder.path).exists()


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "a/../../out", "", "."])
def test_no_file_is_written_outside(name: str) -> None:
    with shared_folder() as folder, pytest.raises(ValueError, match="not the path of a file inside"):
        folder.write({name: b""})


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    with shared_folder({"a": b"1"}) as folder:
        Path(folder.path, "link").symlink_to(tmp_path / "secret")
        Path(folder.path, "folder").symlink_to(tmp_path)
        assert folder.files() == {"a": b"1"}

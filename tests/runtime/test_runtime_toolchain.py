from pathlib import Path

import pytest

from tflabs.runtime import find_compiler


def program(directory: Path, name: str) -> str:
    path = directory / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_order(empty_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("clang++", "c++", "g++"):
        path = program(empty_path, name)
        assert find_compiler() == path
    own = program(empty_path, "my-compiler")
    monkeypatch.setenv("CXX", "my-compiler")
    assert find_compiler() == own
    monkeypatch.setenv("CXX", "not-there")
    assert find_compiler() == str(empty_path / "g++")


def test_none(empty_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"apt-get install g\+\+[\s\S]*cxx-compiler"):
        find_compiler()

import importlib.util
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tflabs.runtime import find_compiler, find_python_headers, find_swig


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


def test_python_headers_are_those_of_this_python() -> None:
    assert (Path(find_python_headers()) / "Python.h").is_file()


def test_python_headers_of_the_wheel_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = find_python_headers()
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    copy = find_python_headers()
    assert copy != own and (Path(copy) / "Python.h").is_file()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match=rf"no Python.h in {tmp_path}[\s\S]*apt-get install python3\.\d+-dev"):
        find_python_headers()


def test_swig_writes_a_wrapper(tmp_path: Path) -> None:
    (tmp_path / "mini.i").write_text("%module mini\nint twice(int x);\n")
    subprocess.run([*find_swig(), "-python", "mini.i"], cwd=tmp_path, check=True)
    assert "_wrap_twice" in (tmp_path / "mini_wrap.c").read_text()


def test_swig_of_the_search_path_or_none(empty_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="no SWIG: install the package `swig`"):
        find_swig()
    assert [program(empty_path, "swig")] == find_swig()

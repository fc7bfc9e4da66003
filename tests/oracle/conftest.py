"""Oracles: small C++ libraries over the installed TensorFlow's own code, built for the tests that ask them.

What labs teach is checked here against the C++ that does it. Grading needs none of this.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tflabs.runtime import find_compiler, quiet


@pytest.fixture(scope="session")
def build_oracle(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ctypes.CDLL]:
    """Builds a C++ source of this folder, by its file name, and loads the library; skips where it cannot be built."""

    def build(source: str) -> ctypes.CDLL:
        try:
            compiler = find_compiler()
        except FileNotFoundError as error:
            pytest.skip(f"an oracle needs a C++ compiler: {error}")
        with quiet():
            import tensorflow as tf
        folder = Path(tf.sysconfig.get_lib())
        if not (folder / "libtensorflow_cc.so.2").exists():
            pytest.skip("this TensorFlow has no libtensorflow_cc.so.2 to link with")
        library = tmp_path_factory.mktemp("oracle") / f"{Path(source).stem}.so"
        # Without NDEBUG some classes of TensorFlow have another layout than in the wheel.
        command = [compiler, "-w", "-O0", "-DNDEBUG", "-fPIC", "-shared", str(Path(__file__).parent / source)]
        command += [*tf.sysconfig.get_compile_flags(), f"-L{folder}", f"-Wl,-rpath,{folder}", "-o", str(library)]
        command += ["-l:libtensorflow_framework.so.2", "-l:libtensorflow_cc.so.2"]
        built = subprocess.run(command, capture_output=True, text=True, timeout=500)
        assert built.returncode == 0, built.stderr[-3000:]
        return ctypes.CDLL(str(library))

    return build

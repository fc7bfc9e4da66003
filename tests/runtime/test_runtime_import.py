"""The package itself is light: what it loads, by name, in a new interpreter."""

import json
import subprocess
import sys

import pytest

import tflabs.runtime


def modules_after(statement: str) -> set[str]:
    program = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_import_loads_no_tensorflow_numpy_or_pickling() -> None:
    loaded = modules_after("import tflabs.runtime")
    assert not loaded & {"tensorflow", "numpy", "cloudpickle", "subprocess", "logging"}
    assert not {name for name in loaded if name.startswith("tflabs.runtime.")}


def test_all_names_load_without_tensorflow() -> None:
    loaded = modules_after("from tflabs.runtime import *")
    assert "tflabs.runtime.xla" in loaded
    assert not loaded & {"tensorflow", "numpy", "cloudpickle"}


def test_every_public_name_is_there_and_no_other() -> None:
    assert dir(tflabs.runtime) == sorted(tflabs.runtime.__all__)
    for name in tflabs.runtime.__all__:
        assert getattr(tflabs.runtime, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tflabs.runtime.nothing  # noqa: B018

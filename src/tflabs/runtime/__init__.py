"""What labs need beside TensorFlow's public API: traces, fresh processes, XLA dumps, tools of test cells.

Importing this package imports neither TensorFlow nor its own modules: a name is loaded when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tflabs.runtime.asking import answer_to
    from tflabs.runtime.disguising import disguise
    from tflabs.runtime.folders import SharedFolder, shared_folder
    from tflabs.runtime.noise import quiet
    from tflabs.runtime.process import Finished, FreshProcessError, in_fresh_process
    from tflabs.runtime.sessions import RunTrace, plain_config, trace_run
    from tflabs.runtime.toolchain import find_compiler, find_python_headers, find_swig
    from tflabs.runtime.tracing import CallTrace, trace_call
    from tflabs.runtime.withholding import withheld
    from tflabs.runtime.xla import XlaDump, xla_dump

__all__ = [
    "CallTrace",
    "Finished",
    "FreshProcessError",
    "RunTrace",
    "SharedFolder",
    "XlaDump",
    "answer_to",
    "disguise",
    "find_compiler",
    "find_python_headers",
    "find_swig",
    "in_fresh_process",
    "plain_config",
    "quiet",
    "shared_folder",
    "trace_call",
    "trace_run",
    "withheld",
    "xla_dump",
]

_MODULES = {
    "asking": ("answer_to",),
    "disguising": ("disguise",),
    "folders": ("SharedFolder", "shared_folder"),
    "noise": ("quiet",),
    "process": ("Finished", "FreshProcessError", "in_fresh_process"),
    "sessions": ("RunTrace", "plain_config", "trace_run"),
    "toolchain": ("find_compiler", "find_python_headers", "find_swig"),
    "tracing": ("CallTrace", "trace_call"),
    "withholding": ("withheld",),
    "xla": ("XlaDump", "xla_dump"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

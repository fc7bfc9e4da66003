"""Runs code that nobody trusts: one box per command, or kernels forked from a warm server, each in a box of its own.

`start(command, policy)` gives a `Box`; `ForkServer(policy, preload).start(entry, arguments)` gives one in milliseconds.
This package knows nothing of notebooks. A name is loaded when it is first used: the keeper, which is started for every
cold box, must not pay for what only its caller needs.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tflabs.grading.sandbox.backends import Finding, SandboxUnavailable, choose, probe
    from tflabs.grading.sandbox.box import Box, Verdict
    from tflabs.grading.sandbox.policy import Limits, Policy, interpreter_trees, package_trees, python_policy
    from tflabs.grading.sandbox.reading import UnsafeFile, safe_names, safe_read
    from tflabs.grading.sandbox.starting import start
    from tflabs.grading.sandbox.warm import ForkRefused, ForkServer

__all__ = [
    "Box",
    "Finding",
    "ForkRefused",
    "ForkServer",
    "Limits",
    "Policy",
    "SandboxUnavailable",
    "UnsafeFile",
    "Verdict",
    "choose",
    "interpreter_trees",
    "package_trees",
    "probe",
    "python_policy",
    "safe_names",
    "safe_read",
    "start",
]

_MODULES = {
    "backends": ("Finding", "SandboxUnavailable", "choose", "probe"),
    "box": ("Box", "Verdict"),
    "policy": ("Limits", "Policy", "interpreter_trees", "package_trees", "python_policy"),
    "reading": ("UnsafeFile", "safe_names", "safe_read"),
    "starting": ("start",),
    "warm": ("ForkRefused", "ForkServer"),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            import importlib  # the keeper never comes here

            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

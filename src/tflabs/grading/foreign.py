"""Runs notebooks of assignments that are no labs of the course: as nbgrader does, with the kernel in a box."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from jupyter_client.manager import AsyncKernelManager
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets.config import Config

from tflabs.grading.provisioner import CONNECTION_FILE, ENTRY_POINT
from tflabs.grading.sandbox import Box, UnsafeFile, safe_names, safe_read

MOST_FILES, MOST_BYTES = 200, 16 << 20  # of what is kept of a box


class BoxedKernelManager(AsyncKernelManager):
    """Finds kernelspecs as usual, and starts the kernel of a Python one in a box."""

    @property
    def kernel_spec(self) -> Any:
        """Raises NoSuchKernel if there is none of this name, or it is not Python's."""
        spec = super().kernel_spec
        if spec is not None:
            if spec.language != "python":
                raise NoSuchKernel(f"{self.kernel_name}, in a box: only Python's kernels run there")
            spec.metadata["kernel_provisioner"] = {"provisioner_name": ENTRY_POINT, "config": {"on_end": keep_files}}
        return spec


def execute(notebook: Any, resources: Any, step: NbGraderPreprocessor, backend: str) -> tuple[Any, Any]:
    """nbgrader's step `Execute`, configured as the course has it; its kernel is in a box of this backend."""
    config = Config({"BoxProvisioner": {"backend": backend}})
    config.merge(step.config)
    execution = Execute(parent=step.parent, config=config, kernel_manager_class=BoxedKernelManager)
    executed: tuple[Any, Any] = execution(notebook, resources)  # does nothing where it is not enabled
    return executed


def keep_files(box: Box, folder: Path) -> None:
    """Copy new plain files that a notebook wrote beside itself: nbgrader's are kept in the autograded folder."""
    rest = MOST_BYTES
    for name in safe_names(box.folder)[:MOST_FILES]:
        path = folder / name
        is_own = name == CONNECTION_FILE or name.startswith(".") or path.suffix == ".ipynb"
        if is_own or path.is_symlink() or path.exists():
            continue
        try:
            content = safe_read(box.folder, name, rest)
        except UnsafeFile:
            continue
        path.write_bytes(content)
        rest -= len(content)

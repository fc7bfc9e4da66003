"""nbgrader preprocessor that our `nbgrader_config.py` adds to `generate_assignment`."""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor


class KeepNotesBack(NbGraderPreprocessor):  # type: ignore[misc]
    """Leave the notes for after passing out of the student version: `check` and `solution` show them when due."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        nb.cells = [cell for cell in nb.cells if "after_passing" not in cell.metadata]
        return nb, resources

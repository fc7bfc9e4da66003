"""nbgrader preprocessor of `generate_feedback` in our `nbgrader_config.py`: what a learner may read of tests."""

from __future__ import annotations

from typing import Any

from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from tflabs.course.lab import HIDDEN, role

SHORTEST = 12  # characters of a line that is known again
_TEXTS = ("text/plain", "text/html", "text/markdown", "text/latex", "application/json")


class KeepTestsBack(NbGraderPreprocessor):  # type: ignore[misc]
    """Leave hidden tests out of the feedback, and every echo of them; the words of the failed test stay."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        tests = [cell for cell in nb.cells if role(cell) == "test"]
        lines = {
            line.strip() for cell in tests for region in HIDDEN.findall(cell.source) for line in region.splitlines()
        }
        for cell in tests:
            cell.source = HIDDEN.sub("# Further tests, which are not shown.\n", cell.source)
            cell.outputs = [_in_words(output) for output in cell.outputs if output.output_type == "error"]
        shown = {line.strip() for cell in nb.cells for line in cell.source.splitlines()}
        secrets = sorted((line for line in lines - shown if len(line) >= SHORTEST), key=len, reverse=True)
        for cell in nb.cells:
            for output in cell.get("outputs", []):
                if role(cell) != "test":
                    _silence(output, secrets)
        return nb, resources


def _in_words(error: Any) -> Any:
    """An error without the way that led to it."""
    words = str(error.evalue)
    return new_output("error", ename=str(error.ename), evalue=words, traceback=[words])


def _silence(output: Any, secrets: list[str]) -> None:
    def clean(text: Any) -> Any:
        if isinstance(text, list):
            return [clean(part) for part in text]
        for secret in secrets if isinstance(text, str) else ():
            text = text.replace(secret, "…")
        return text

    if output.output_type == "stream":
        output.text = clean(output.text)
    elif output.output_type == "error":
        output.evalue, output.traceback = clean(output.evalue), clean(output.traceback)
    else:
        output.data.update({kind: clean(output.data[kind]) for kind in _TEXTS if kind in output.data})

"""TensorFlow Internals Labs: the course, its pictures, its grading and its commands."""

import sys

# nbformat imports jsonschema, which imports rfc3987_syntax where it is installed, and that compiles a grammar for two
# seconds on every start. It would check IRIs, of which a notebook has none.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

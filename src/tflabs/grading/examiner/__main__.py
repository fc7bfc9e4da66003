"""`python -m tflabs.grading.examiner [MODULE …]`: an examiner whose standard output and error are its two sockets."""

from __future__ import annotations

import sys

from tflabs.grading.examiner import examiner

if __name__ == "__main__":
    examiner.serve_on_streams(*sys.argv[1:])

"""What to type to run the command line again: messages that name a command say it as the reader can run it."""

from __future__ import annotations

import os

PROGRAM = os.environ.get("TFLABS_PROGRAM", "tflabs")  # the launcher sets it; an installed `tflabs` is on PATH

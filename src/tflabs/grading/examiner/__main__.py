"""`python -m tflabs.grading.examiner CONTROL LISTENER [MODULE …]`: two descriptors, and modules to import first."""

from __future__ import annotations

import socket
import sys

from tflabs.grading.examiner import examiner

if __name__ == "__main__":
    examiner.main(
        socket.socket(fileno=int(sys.argv[1])), socket.socket(fileno=int(sys.argv[2])), preload=tuple(sys.argv[3:])
    )

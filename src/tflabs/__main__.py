"""`python -m tflabs` is the same as `tflabs`."""

from tflabs.cli import main

main()

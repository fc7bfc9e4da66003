from tflabs.runtime import quiet

with quiet():
    import tensorflow  # noqa: F401 - once for all tests of this directory, without its import noise

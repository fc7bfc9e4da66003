"""Runs graded test cells in a process that never held the learner's code.

Three processes. *A* is the kernel with the learner's code; nothing it says is trusted. *B* is the examiner: it runs the
lab's given cells and test cells and calls into A. The *driver* starts both and asks B for results.

    values      codec (plain Python), science (NumPy, TensorFlow, protobuf)
    transport   channel, wire (the messages)
    in A        agent (serves calls), objects (what stays there)
    in B        link (calls A), proxy (what a test sees of A), values (what crosses, as B reads it), cells, examiner
    driver      client

Importing this package imports none of them.
"""

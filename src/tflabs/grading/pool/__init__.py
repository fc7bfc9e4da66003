"""Grades many submissions at once: workers run notebooks, one writer lets nbgrader record what they found.

`work` describes one submission's cells so that they can run anywhere; `local` and `cluster` run such work; `journal`
keeps what ran until it is recorded; `writer` is nbgrader; `grader` is the loop over all of it.
"""

"""Runs a learner's notebook against the tests of its lab and says what it is worth."""

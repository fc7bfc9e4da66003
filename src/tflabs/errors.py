"""Errors whose text is written for the person at the keyboard."""


class UserError(Exception):
    """Something that the user can mend: the text says what is wrong, where, and what to do. Commands exit with 2."""

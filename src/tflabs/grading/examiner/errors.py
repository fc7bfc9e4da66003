"""What ends a test cell besides its own assertions.

All derive from BaseException, so that `except Exception` in a test, or `except TypeError` around a call that must be
refused, never takes the examiner's word for the learner's.
"""

from __future__ import annotations


class ExaminerError(BaseException):
    """The base of everything that the examiner itself raises in a test cell."""


class ProtocolError(ExaminerError):
    """The other process sent something that is no valid message."""


class CannotCross(ExaminerError):
    """A value has no plain form and cannot be sent to the other process."""


class LiveObjectError(ExaminerError):
    """A test compared, hashed or asked the truth of an object that lives in the learner's process."""


class LearnerGone(ExaminerError):
    """The learner's process ended, or does not serve."""


class LearnerExit(ExaminerError):
    """The learner's code raised SystemExit, KeyboardInterrupt or another exception that is no Exception."""


class CallTimeout(ExaminerError):
    """A call into the learner's code did not return in time."""


class CellTimeout(ExaminerError):
    """A cell as a whole did not end in time."""


class Altered(ExaminerError):
    """The learner's process, in which a test must run, has changed what judges there. The message names it."""

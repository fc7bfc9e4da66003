# nbgrader's configuration of this course. With it the stock commands (generate_assignment, autograde, validate,
# generate_feedback, export) work in a clone; `tflabs build` runs generate_assignment with the same settings.
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.preprocessors import Execute

from tflabs.course.release import KeepNotesBack
from tflabs.grading.autograde import Judge

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "tflabs"
c.GenerateAssignment.preprocessors = [KeepNotesBack, *GenerateAssignment.preprocessors.default()]

# Submissions run in boxes, and an examiner judges them.
_STEPS = Autograde.autograde_preprocessors.default()
c.Autograde.autograde_preprocessors = [Judge if step is Execute else step for step in _STEPS]

# A lab's slowest cells start a fresh Python process with TensorFlow, or a compiler.
c.ExecutePreprocessor.timeout = 120

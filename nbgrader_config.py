# nbgrader's configuration of this course. With it the stock commands (generate_assignment, autograde, validate,
# generate_feedback, export) work in a clone; `tflabs build` runs generate_assignment with the same settings.
from nbgrader.converters import GenerateAssignment

from tflabs.course.release import KeepNotesBack

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "tflabs"
c.GenerateAssignment.preprocessors = [KeepNotesBack, *GenerateAssignment.preprocessors.default()]

# A lab's slowest cells start a fresh Python process with TensorFlow, or a compiler.
c.ExecutePreprocessor.timeout = 120

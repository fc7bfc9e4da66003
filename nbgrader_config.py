# nbgrader's configuration of this course. With it the stock commands (generate_assignment, autograde, validate,
# generate_feedback, export) work in a clone; `tflabs build` runs generate_assignment with the same settings.
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.preprocessors import Execute

from tflabs.course.release import KeepNotesBack
from tflabs.grading.autograde import Judge, PutRight, under_its_name
from tflabs.grading.feedback import KeepTestsBack

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "tflabs"
c.GenerateAssignment.preprocessors = [KeepNotesBack, *GenerateAssignment.preprocessors.default()]

# Submissions are put right, run in boxes and judged by an examiner.
c.Autograde.sanitize_preprocessors = [PutRight, *Autograde.sanitize_preprocessors.default()]
c.Autograde.autograde_preprocessors = [
    Judge if step is Execute else step for step in Autograde.autograde_preprocessors.default()
]
c.Autograde.pre_convert_hook = under_its_name

# Feedback says in words what a test has found, and shows no hidden test.
c.GenerateFeedback.preprocessors = [KeepTestsBack, *GenerateFeedback.preprocessors.default()]

# A lab's slowest cells start a fresh Python process with TensorFlow, or a compiler.
c.ExecutePreprocessor.timeout = 120

# nbgrader's configuration of this course. With it the stock commands (generate_assignment, autograde, validate,
# generate_feedback, export) work in a clone; `tflabs build` runs generate_assignment with the same settings.
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.preprocessors import Execute

from tflabs.course.release import KeepNotesBack
from tflabs.grading.autograde import Judge, PutRight, received
from tflabs.grading.feedback import KeepTestsBack
from tflabs.grading.intake import ReadsAnything
from tflabs.grading.pages import harmless_markdown

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "tflabs"
c.GenerateAssignment.preprocessors = [KeepNotesBack, *GenerateAssignment.preprocessors.default()]

# Submissions are put right, run in boxes and judged by an examiner.
c.Autograde.sanitize_preprocessors = [PutRight, *Autograde.sanitize_preprocessors.default()]
c.Autograde.autograde_preprocessors = [
    Judge if step is Execute else step for step in Autograde.autograde_preprocessors.default()
]
c.Autograde.pre_convert_hook = received
c.Autograde.exporter_class = ReadsAnything

# Feedback says in words what a test has found, and shows no hidden test.
c.GenerateFeedback.preprocessors = [KeepTestsBack, *GenerateFeedback.preprocessors.default()]

# Nothing that a learner wrote runs on Formgrader's pages or in the feedback.
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {"markdown2html": harmless_markdown}

# A lab's slowest cells start a fresh Python process with TensorFlow, or a compiler.
c.ExecutePreprocessor.timeout = 120

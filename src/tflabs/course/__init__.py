"""The course as data: the syllabus, the text of a lab, the notebooks built from it. Knows nothing of grading."""

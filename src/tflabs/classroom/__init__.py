"""What a class needs around the grading: exports of the gradebook to learning management systems."""

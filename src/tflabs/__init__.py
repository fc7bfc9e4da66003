"""TensorFlow Internals Labs: the course, its pictures, its grading and its commands."""

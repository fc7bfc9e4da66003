"""What authors of labs use: the proof that a lab's tests judge right."""

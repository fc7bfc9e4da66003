"""What a learner uses: a folder of their own, progress, the start page, checks."""

"""A saved learner as a process that answers and learns at once: `merlin serve`. What it acknowledges is on disk, once."""

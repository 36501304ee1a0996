"""`lookup`, MERLIN's control: one compressed network a task, looked up to answer. No distribution, nothing sampled."""

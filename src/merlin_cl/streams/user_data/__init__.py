"""A user's own data as a stream: one file for each form in which they may come, and the division into tasks that all share."""

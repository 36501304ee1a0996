"""Banks: M networks of one shape, held in one `[M, P]` tensor and trained and queried at once."""

"""Choosing a method's settings on held-out training images of a stream's first tasks (`merlin tune`), never on test data."""

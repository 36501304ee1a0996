"""The MERLIN paper's published numbers, as data."""

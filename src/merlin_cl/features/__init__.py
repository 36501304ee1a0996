"""Frozen features: what turns texts, images or numbers into the numbers that a learner sees, computed once and kept on disk."""

from merlin_cl.features.extractor import Features, FeaturesNote, trusted
from merlin_cl.features.names import feature_names

__all__ = ["Features", "FeaturesNote", "feature_names", "trusted"]

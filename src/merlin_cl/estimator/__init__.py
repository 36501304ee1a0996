"""The learners behind scikit-learn's conventions: `partial_fit`, `predict`, `save`; new classes and tasks at any time."""

from merlin_cl.estimator.classifier import ContinualClassifier
from merlin_cl.estimator.merlin import MerlinClassifier

__all__ = ["ContinualClassifier", "MerlinClassifier"]

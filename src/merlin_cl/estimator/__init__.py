"""The learners behind scikit-learn's conventions: `partial_fit`, `predict`, `save`; new classes and tasks at any time."""

from pathlib import Path
from typing import Any

from merlin_cl.estimator.classifier import ContinualClassifier
from merlin_cl.estimator.merlin import MerlinClassifier
from merlin_cl.estimator.prequential import evaluate_prequential
from merlin_cl.runs.model_file import path_of_model

__all__ = ["ContinualClassifier", "MerlinClassifier", "evaluate_prequential", "load"]


def load(path: str | Path, *, network: Any = None, features: Any = None, device: str = "cpu") -> ContinualClassifier:
    """The estimator in a file, of whichever kind it is, or one for the learner that a run left in its folder.

    `network` must be given if it is not one of this package, by name (`package.module:factory`) or as the object that it was,
    and `features` if it learned from any, by name or as what computes them.
    """
    return ContinualClassifier.load(path_of_model(Path(path)), network=network, features=features, device=device)

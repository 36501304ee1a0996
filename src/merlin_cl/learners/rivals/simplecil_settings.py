"""Settings of `simplecil`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.learners.rivals.frozen_features_settings import FrozenSettings
from merlin_cl.learners.search_space import Among, Space


@dataclass(frozen=True)
class SimpleCILSettings(FrozenSettings):
    """The mean feature of each class (Zhou et al. 2024)."""

    method: ClassVar[str] = "simplecil"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.simplecil:SimpleCIL"
    space: ClassVar[Space] = {"features": Among("inputs", "learned")}

    features: Literal["inputs", "learned"] = "inputs"
    """The inputs themselves, or the classifier's last hidden layer as the first task leaves it."""

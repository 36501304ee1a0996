"""Settings of the two controls. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.ensemble_settings import EnsembleSettings
from merlin_cl.learners.network_settings import NetworkSettings


@dataclass(frozen=True)
class SingleSettings(NetworkSettings):
    """One network that learns task after task: what happens when nothing is done about forgetting."""

    method: ClassVar[str] = "single"
    learner: ClassVar[str] = "merlin_cl.learners.single:Single"

    weight_decay: float = 1e-3
    """Weight decay, as an L2 term in the gradient, as in the paper."""


@dataclass(frozen=True)
class GDumbEnsembleSettings(EnsembleSettings):
    """E fresh networks trained on the exemplars alone: no stream, no VAE. What MERLIN has to beat."""

    method: ClassVar[str] = "gdumb-ensemble"
    learner: ClassVar[str] = "merlin_cl.learners.gdumb_ensemble:GDumbEnsemble"

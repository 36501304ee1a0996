"""Settings of the two controls. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.classifier_settings import ClassifierSettings
from merlin_cl.learners.ensemble_settings import EnsembleSettings


@dataclass(frozen=True)
class SingleSettings(ClassifierSettings):
    """One network that learns task after task: what happens when nothing is done about forgetting."""

    method: ClassVar[str] = "single"
    learner: ClassVar[str] = "merlin_cl.learners.single:Single"

    updates_per_batch: int = 1
    """Gradient steps on each arriving batch."""
    learning_rate: float = 1e-3
    """Adam's learning rate."""
    weight_decay: float = 1e-3
    """Adam's weight decay (as an L2 term, as in the paper)."""

    def __post_init__(self) -> None:
        self.require_at_least(1, "updates_per_batch")
        self.require_at_least(0, "learning_rate", "weight_decay")


@dataclass(frozen=True)
class GDumbEnsembleSettings(EnsembleSettings):
    """E fresh networks trained on the exemplars alone: no stream, no VAE. What MERLIN has to beat."""

    method: ClassVar[str] = "gdumb-ensemble"
    learner: ClassVar[str] = "merlin_cl.learners.gdumb_ensemble:GDumbEnsemble"

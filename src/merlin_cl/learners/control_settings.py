"""Settings of the controls: what happens with nothing done, with exemplars alone, with all data. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.ensemble_settings import EnsembleSettings, Vote
from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.search_space import Among, Space, Span


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

    vote: Vote = "mean-probability"
    """How they agree on an answer. `agreement` is the mean probability with each network weighted by how far it agrees with
    the others on the input."""


@dataclass(frozen=True)
class GDumbSettings(GDumbEnsembleSettings):
    """One network trained on the exemplars alone (Prabhu et al. 2020)."""

    method: ClassVar[str] = "gdumb"
    learner: ClassVar[str] = "merlin_cl.learners.gdumb:GDumb"
    own_means: ClassVar[frozenset[str]] = frozenset({"exemplar_choice"})  # its greedy sampler is balanced
    space: ClassVar[Space] = {"fine_tune_rate": Span(3e-4, 1e-2), "fine_tune_epochs": Among(20, 40, 80)}

    exemplar_choice: Choice = "balanced"
    """How they are chosen, as in the paper balanced over classes; or by `random`, `herding`, `k-centre`, `gradient`."""
    models: int = 1
    """Networks in the ensemble that answers."""


@dataclass(frozen=True)
class JointSettings(NetworkSettings):
    """All data of all tasks at once: the ceiling. Keeps every example, so it is no continual learner."""

    method: ClassVar[str] = "joint"
    learner: ClassVar[str] = "merlin_cl.learners.joint:Joint"
    own_means: ClassVar[frozenset[str]] = frozenset({"updates_per_batch"})  # it makes passes over all examples instead
    ceiling: ClassVar[bool] = True
    space: ClassVar[Space] = {"learning_rate": Span(1e-4, 1e-2), "epochs": Among(5, 10, 20)}

    epochs: int = 20
    """Passes over all examples so far, by a fresh network, when a task ends."""
    batch: int = 32
    """Examples in a batch of these passes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "epochs", "batch")

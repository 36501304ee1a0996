"""Settings of `gdumb-ensemble` and `gdumb`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.ensemble_settings import EnsembleSettings, Vote
from merlin_cl.learners.means import Choice
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class GDumbEnsembleSettings(EnsembleSettings):
    """E fresh networks trained on the exemplars alone: no stream, no VAE. What MERLIN has to beat."""

    method: ClassVar[str] = "gdumb-ensemble"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.gdumb:GDumbEnsemble"

    vote: Vote = "mean-probability"
    """How they agree on an answer. `agreement` is the mean probability with each network weighted by how far it agrees with
    the others on the input."""


@dataclass(frozen=True)
class GDumbSettings(GDumbEnsembleSettings):
    """One network trained on the exemplars alone (Prabhu et al. 2020)."""

    method: ClassVar[str] = "gdumb"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.gdumb:GDumb"
    own_means: ClassVar[frozenset[str]] = frozenset({"exemplar_choice"})  # its greedy sampler is balanced
    space: ClassVar[Space] = {"fine_tune_rate": Span(3e-4, 1e-2), "fine_tune_epochs": Among(20, 40, 80)}

    exemplar_choice: Choice = "balanced"
    """How they are chosen, as in the paper balanced over classes; or by `random`, `herding`, `k-centre`, `gradient`."""
    models: int = 1
    """Networks in the ensemble that answers."""

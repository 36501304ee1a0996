"""Settings of the paper's recipe as printed. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

from merlin_cl.errors import UsageError
from merlin_cl.learners.classifier_settings import ClassifierSettings
from merlin_cl.learners.ensemble_settings import Vote
from merlin_cl.learners.means import Choice
from merlin_cl.learners.merlin_paper.recipes import RECIPES, Reading, Recipe
from merlin_cl.networks import worth_convolutions
from merlin_cl.protocol import StreamInfo


@dataclass(frozen=True)
class MerlinPaperSettings(ClassifierSettings):
    """MERLIN as its paper prints it, or as its authors' code has it: the recipe that the published numbers stand beside."""

    method: ClassVar[str] = "merlin-paper"
    learner: ClassVar[str] = "merlin_cl.learners.merlin_paper.learner:MerlinPaper"
    exemplar_choice: ClassVar[Choice] = "random"

    reading: Reading = "text"
    """The recipe as the paper's text has it, or (`code`) as its authors' published code does where that differs."""
    base_models: int = 10
    """Models that learn each task (B)."""
    sampling_rate: float = 0.9
    """The probability with which a base model takes an arriving example."""
    exemplars: int = 200
    """Examples that may be kept, in all, chosen at random."""
    models: int = 30
    """Models that are sampled for an answer (E)."""
    fine_tune_epochs: int = 40
    """Passes over the exemplars before sampled models answer."""
    chunk: int = 300
    """Weights in a chunk."""
    hidden: int = 50
    """Hidden units of the VAE's encoder and decoder."""
    latent: int = 2
    """Width of the latent z, and of a chunk's embedding."""
    vae: Literal["trained", "untrained"] = "trained"
    """`untrained`: neither trained nor consolidated, so that exemplars alone teach sampled models (an ablation of the paper)."""
    vae_epochs: int = 25
    """Passes over the base models' chunks, one chunk a step."""
    prior: Literal["learned", "standard-normal"] = "learned"
    """The latent prior: learned for each task, or N(0, I) for all (an ablation of the paper)."""
    classification_loss: bool = False
    """Whether the VAE also learns by the loss of a classifier that it generates, on every batch that arrives (the appendix)."""
    pseudo_models: int = 10
    """Models of each task that the VAE is consolidated with (P)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "base_models", "exemplars", "models", "chunk", "hidden", "latent")
        self.require_at_least(1, "vae_epochs", "pseudo_models")
        self.require_at_least(0, "fine_tune_epochs")
        if not 0 < self.sampling_rate <= 1:
            raise UsageError(f"sampling_rate is {self.sampling_rate}; it must be above 0 and at most 1.")
        if self.classification_loss and self.vae == "untrained":
            raise UsageError("classification_loss trains the VAE, but vae is untrained; leave one of them out.")

    @classmethod
    def untuned(cls, stream: StreamInfo) -> Self:
        """The settings for a stream: sizes recovered from the paper's parameter counts, exemplars as it has them."""
        settings = super().untuned(stream)
        if not worth_convolutions(stream.input_shape):
            return settings
        if stream.classes <= 10:
            return replace(settings, chunk=250, hidden=30, latent=10)
        return replace(settings, latent=10)

    @property
    def recipe(self) -> Recipe:
        """What the reading says."""
        return RECIPES[self.reading]

    @property
    def vote(self) -> Vote:
        """How sampled models agree on an answer."""
        return self.recipe.vote

"""Settings that MERLIN and its control share: the classifier, the exemplars, the ensemble that answers. Free of torch."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

from merlin_cl.learners.classifier_settings import ClassifierSettings
from merlin_cl.learners.means import Augmentation, Choice, input_kind
from merlin_cl.protocol import StreamInfo

Vote = Literal["majority", "mean-probability", "sum-logits", "agreement"]


@dataclass(frozen=True)
class EnsembleSettings(ClassifierSettings):
    """E networks of one shape, fitted to a bounded number of exemplars, answer together."""

    own_means: ClassVar[frozenset[str]] = frozenset({"updates_per_batch", "learning_rate", "replay"})  # of base models

    exemplars: int = 200
    """Examples that may be kept, in all."""
    exemplar_choice: Choice = "herding"
    """How they are chosen: `random` (reservoir), `balanced` (class-balanced reservoir), or balanced with those kept that have
    the mean of all that passed (`herding`), that cover them best (`k-centre`), or whose loss gradients differ (`gradient`)."""
    models: int = 30
    """Networks in the ensemble that answers (E)."""
    augmentation: Augmentation = "none"
    """What happens to a picture each time a network learns from it: moved by up to two pixels, and perhaps mirrored."""
    fine_tune_epochs: int = 40
    """Passes over the exemplars before answering."""
    fine_tune_rate: float = 1e-3
    """Adam's learning rate in fine-tuning."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "exemplars", "models")
        self.require_at_least(0, "fine_tune_epochs", "fine_tune_rate")

    @classmethod
    def untuned(cls, stream: StreamInfo) -> Self:
        """The settings on a stream without a search.

        Convolutions cost a CPU dearly, so five networks answer for photographs, not thirty.
        """
        settings = super().untuned(stream)
        few = input_kind(stream) == "photographs"
        return replace(settings, models=min(5, cls.models)) if few else settings

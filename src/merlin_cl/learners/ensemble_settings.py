"""Settings that MERLIN and its control share: the classifier, the exemplars, the ensemble that answers. Free of torch."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from merlin_cl.learners.classifier_settings import ClassifierSettings
from merlin_cl.protocol import StreamInfo

Choice = Literal["random", "balanced", "herding", "k-centre", "gradient"]
Augmentation = Literal["none", "shifts", "shifts-and-mirrors"]
Vote = Literal["majority", "mean-probability", "sum-logits", "agreement"]


@dataclass(frozen=True)
class EnsembleSettings(ClassifierSettings):
    """E networks of one shape, fitted to a bounded number of exemplars, answer together."""

    exemplars: int = 200
    """Examples that may be kept, in all."""
    exemplar_choice: Choice = "herding"
    """How they are chosen: `random` (reservoir), `balanced` (class-balanced reservoir), or balanced with those kept that have
    the mean of all that passed (`herding`), that cover them best (`k-centre`), or whose loss gradients differ (`gradient`)."""
    models: int = 30
    """Networks in the ensemble that answers (E)."""
    vote: Vote = "mean-probability"
    """How they agree on an answer. `agreement` is the mean probability with each network weighted by how far it agrees with
    the others on the input."""
    augmentation: Augmentation = "none"
    """What happens to a picture each time a network learns from it: moved by up to two pixels, and perhaps mirrored."""
    fine_tune_epochs: int = 40
    """Passes over the exemplars before answering."""
    fine_tune_batch: int = 20
    """Exemplars in a batch of fine-tuning."""
    fine_tune_rate: float = 1e-3
    """Adam's learning rate in fine-tuning."""

    def __post_init__(self) -> None:
        self.require_at_least(1, "exemplars", "models", "fine_tune_batch")
        self.require_at_least(0, "fine_tune_epochs", "fine_tune_rate")

    @classmethod
    def preset(cls, name: str, stream: StreamInfo) -> Self:
        """The settings a preset stands for on a stream: the paper's 200 exemplars for MNIST, 400 for larger images.

        Convolutions cost a CPU dearly, so five networks answer for larger images, not thirty. Of larger images chance keeps a
        more telling few than a mean of pixels does. Photographs are shifted and mirrored as they are learned.
        """
        settings = replace(super().preset(name, stream), exemplars=exemplar_budget(stream))
        if not large_images(stream):
            return settings
        augmentation: Augmentation = "shifts-and-mirrors" if stream.mirrored else "none"
        return replace(settings, exemplar_choice="balanced", models=min(5, cls.models), augmentation=augmentation)


def exemplar_budget(stream: StreamInfo) -> int:
    """Exemplars in all, as the paper has it: 200 for the MNIST streams, 400 for the others."""
    return 400 if large_images(stream) else 200


def large_images(stream: StreamInfo) -> bool:
    """Whether inputs are images that are worth convolutions: 32 pixels a side or more."""
    return len(stream.input_shape) == 3 and min(stream.input_shape[1:]) >= 32

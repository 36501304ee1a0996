"""Settings that all methods with one network share, with and without a memory of examples. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.learners.classifier_settings import ClassifierSettings
from merlin_cl.learners.means import Augmentation, Choice
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class NetworkSettings(ClassifierSettings):
    """One network that learns on as the stream passes."""

    space: ClassVar[Space] = {"learning_rate": Span(1e-4, 1e-2), "updates_per_batch": Among(1, 3, 10)}

    updates_per_batch: int = 1
    """Gradient steps on each arriving batch."""
    augmentation: Augmentation = "none"
    """What happens to a picture each time the network learns from it: moved by up to two pixels, and perhaps mirrored."""
    optimiser: Literal["adam", "sgd"] = "adam"
    """Adam, as in the paper, or plain gradient descent."""
    learning_rate: float = 1e-3
    """The optimiser's learning rate."""
    weight_decay: float = 0.0
    """Weight decay, as an L2 term in the gradient."""
    competing: Literal["seen", "all"] = "seen"
    """Classes that compete in the loss: those seen so far, or all outputs of the head."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "updates_per_batch")
        self.require_at_least(0, "learning_rate", "weight_decay")


@dataclass(frozen=True)
class BudgetSettings(NetworkSettings):
    """One network and a bounded memory of examples."""

    exemplars: int = 200
    """Examples that may be kept, in all."""

    @property
    def reservoir(self) -> Choice:
        """What fills the memory."""
        return "random"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "exemplars")


@dataclass(frozen=True)
class ChoiceSettings(BudgetSettings):
    """The user says which examples are kept."""

    exemplar_choice: Choice = "random"
    """How exemplars are chosen: `random` (reservoir), `balanced` over classes, or so by `herding`, `k-centre` or `gradient`."""

    @property
    def reservoir(self) -> Choice:
        """What fills the memory."""
        return self.exemplar_choice


@dataclass(frozen=True)
class ReplaySettings(BudgetSettings):
    """The network sees examples from its memory again."""

    space: ClassVar[Space] = {**NetworkSettings.space, "replay": Among(10, 30, 100)}

    replay: int = 10
    """Exemplars that are seen again with every update."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "replay")


@dataclass(frozen=True)
class ReservoirReplaySettings(ReplaySettings, ChoiceSettings):
    """The network sees examples again, and the user says which are kept."""

    space: ClassVar[Space] = ReplaySettings.space

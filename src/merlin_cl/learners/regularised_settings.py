"""Settings of the rivals that hold on to earlier weights or answers rather than to examples. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class EWCSettings(NetworkSettings):
    """Weights that mattered to earlier tasks are held in place (Kirkpatrick et al. 2017; online: Schwarz et al. 2018)."""

    method: ClassVar[str] = "ewc"
    learner: ClassVar[str] = "merlin_cl.learners.ewc:EWC"
    own_means: ClassVar[frozenset[str]] = frozenset({"exemplar_choice"})  # an expectation is that of a fair sample
    space: ClassVar[Space] = {**NetworkSettings.space, "strength": Span(1, 1e4)}

    strength: float = 10.0
    """Weight of the penalty (the paper's lambda)."""
    online: bool = False
    """One penalty around the newest weights, older importances fading, rather than one for each task."""
    decay: float = 0.95
    """What is left of older importances with each task (online)."""
    fisher: Literal["model", "labels"] = "model"
    """The Fisher information: expected over the model's own answers, or taken at the labels (the empirical one)."""
    exemplars: int = 200
    """Examples of the current task that the Fisher information is computed on; dropped when the task ends."""
    exemplar_choice: Choice = "random"
    """How these are chosen: `random` (reservoir), `balanced` over classes, or so by `herding`, `k-centre` or `gradient`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "exemplars")
        self.require_at_least(0, "strength")
        if not 0 <= self.decay <= 1:
            raise UsageError(f"decay is {self.decay}; it must be from 0 to 1.")


@dataclass(frozen=True)
class LwFSettings(NetworkSettings):
    """The network is to answer new examples on old classes as it did before the task (Li and Hoiem 2018)."""

    method: ClassVar[str] = "lwf"
    learner: ClassVar[str] = "merlin_cl.learners.lwf:LwF"
    space: ClassVar[Space] = {**NetworkSettings.space, "strength": Span(0.3, 30), "temperature": Among(1.0, 2.0, 4.0)}

    strength: float = 1.0
    """Weight of the distillation loss (the paper's lambda)."""
    temperature: float = 2.0
    """Softens both networks' answers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "strength")
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}; it must be above 0.")


@dataclass(frozen=True)
class HNETSettings(NetworkSettings):
    """A hypernetwork makes each task's classifier and is kept from changing earlier ones (von Oswald et al. 2020)."""

    method: ClassVar[str] = "hnet"
    learner: ClassVar[str] = "merlin_cl.learners.hnet:HNET"
    space: ClassVar[Space] = {
        **NetworkSettings.space,
        "strength": Span(1e-3, 1),
        "chunk": Among(2_500, 5_000, 10_000),
        "hidden": Among(5, 10, 20),
    }

    strength: float = 0.01
    """Weight of the squared change of earlier tasks' classifiers (the paper's beta)."""
    chunk: int = 10_000
    """Weights that the hypernetwork makes at once."""
    embedding: int = 32
    """Width of task and chunk embeddings."""
    hidden: int = 20
    """Hidden units of the hypernetwork."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "chunk", "embedding", "hidden")
        self.require_at_least(0, "strength")

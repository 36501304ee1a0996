"""Settings of `ewc`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.search_space import Space, Span


@dataclass(frozen=True)
class EWCSettings(NetworkSettings):
    """Weights that mattered to earlier tasks are held in place (Kirkpatrick et al. 2017; online: Schwarz et al. 2018)."""

    method: ClassVar[str] = "ewc"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.ewc:EWC"
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

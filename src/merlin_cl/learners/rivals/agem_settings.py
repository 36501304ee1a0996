"""Settings of `agem`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import NetworkSettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Space, Span


@dataclass(frozen=True)
class AGEMSettings(ReservoirReplaySettings):
    """No step against the mean gradient of earlier tasks' exemplars (Chaudhry et al. 2019)."""

    method: ClassVar[str] = "agem"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.agem:AGEM"
    own_means: ClassVar[frozenset[str]] = frozenset({"optimiser", "replay"})
    space: ClassVar[Space] = {**NetworkSettings.space, "learning_rate": Span(1e-2, 0.3)}

    optimiser: Literal["adam", "sgd"] = "sgd"
    """Plain gradient descent; Adam would turn the step away from the projected gradient."""
    learning_rate: float = 0.1
    """The optimiser's learning rate."""
    exemplar_choice: Choice = "balanced"
    """How exemplars are chosen: `random` (reservoir), `balanced` over classes, or so by `herding`, `k-centre` or `gradient`."""
    replay: int = 256
    """Exemplars, of those of earlier tasks, that the reference gradient is taken of."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "replay")

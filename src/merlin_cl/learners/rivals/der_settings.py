"""Settings of `der` and `der++`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.network_settings import ReplaySettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Space, Span


@dataclass(frozen=True)
class DERSettings(ReservoirReplaySettings):
    """Replay of exemplars with the logits they had when they arrived (Buzzega et al. 2020)."""

    method: ClassVar[str] = "der"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.der:DER"
    space: ClassVar[Space] = {**ReplaySettings.space, "alpha": Span(0.05, 5)}

    alpha: float = 1.0
    """Weight of the squared distance from the logits kept."""

    @property
    def label_weight(self) -> float:
        """Weight of the cross-entropy on exemplars: their labels are not learned."""
        return 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "alpha")


@dataclass(frozen=True)
class DERPlusPlusSettings(DERSettings):
    """DER that replays labels as well (Buzzega et al. 2020)."""

    method: ClassVar[str] = "der++"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.der:DER"
    space: ClassVar[Space] = {**DERSettings.space, "beta": Span(0.2, 5)}

    alpha: float = 0.2
    """Weight of the squared distance from the logits kept."""
    beta: float = 1.0
    """Weight of the cross-entropy on exemplars."""

    @property
    def label_weight(self) -> float:
        """Weight of the cross-entropy on exemplars."""
        return self.beta

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "beta")

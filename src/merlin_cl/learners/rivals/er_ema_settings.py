"""Settings of `er-ema`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import ReplaySettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Among, Space


@dataclass(frozen=True)
class EREMASettings(ReservoirReplaySettings):
    """Replay that answers with a running mean of its weights (Soutif-Cormerais et al. 2023)."""

    method: ClassVar[str] = "er-ema"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.er_ema:EREMA"
    space: ClassVar[Space] = {**ReplaySettings.space, "averaging": Among(0.9, 0.97, 0.99, 0.995)}

    averaging: float = 0.99
    """Decay of the running mean, an update at a time; 0: the weights themselves."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.averaging < 1:
            raise UsageError(f"averaging is {self.averaging}; it must be at least 0 and below 1.")

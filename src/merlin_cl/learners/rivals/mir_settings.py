"""Settings of `mir`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.network_settings import NetworkSettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Among, Space


@dataclass(frozen=True)
class MIRSettings(ReservoirReplaySettings):
    """Replay of the exemplars that the arriving batch would harm most (Aljundi et al. 2019)."""

    method: ClassVar[str] = "mir"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.mir:MIR"
    space: ClassVar[Space] = {**NetworkSettings.space, "replay": Among(10, 30), "candidates": Among(50, 100)}

    candidates: int = 50
    """Exemplars drawn, of which the most interfered are replayed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(self.replay, "candidates")

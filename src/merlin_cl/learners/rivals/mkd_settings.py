"""Settings of `mkd`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import ReplaySettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class MKDSettings(ReservoirReplaySettings):
    """Replay that also learns from a slowly moving mean of its weights (Michel et al. 2024)."""

    method: ClassVar[str] = "mkd"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.mkd:MKD"
    space: ClassVar[Space] = {
        **ReplaySettings.space,
        "strength": Span(0.5, 10),
        "teacher_rate": Among(0.001, 0.003, 0.01),
    }

    teacher_rate: float = 0.01
    """How far the teacher moves towards the network with every update (the paper's alpha)."""
    strength: float = 5.5
    """Weight of the teacher's answers (the paper's lambda)."""
    temperature: float = 4.0
    """Softens both networks' answers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "strength")
        if not 0 < self.teacher_rate <= 1:
            raise UsageError(f"teacher_rate is {self.teacher_rate}; it must be above 0 and at most 1.")
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}; it must be above 0.")

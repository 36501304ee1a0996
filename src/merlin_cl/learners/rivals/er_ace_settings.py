"""Settings of `er-ace`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.network_settings import ReservoirReplaySettings


@dataclass(frozen=True)
class ERACESettings(ReservoirReplaySettings):
    """Replay in which arriving examples choose among the classes of their batch only (Caccia et al. 2022)."""

    method: ClassVar[str] = "er-ace"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.er_ace:ERACE"

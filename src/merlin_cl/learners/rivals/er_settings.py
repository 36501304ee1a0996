"""Settings of `er`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.network_settings import ReservoirReplaySettings


@dataclass(frozen=True)
class ERSettings(ReservoirReplaySettings):
    """Experience replay: every batch is learned from together with exemplars (Chaudhry et al. 2019)."""

    method: ClassVar[str] = "er"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.er:ER"

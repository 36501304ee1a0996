"""Settings of the rivals, a class each. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.network_settings import ReplaySettings


@dataclass(frozen=True)
class ERSettings(ReplaySettings):
    """Experience replay: every batch is learned from together with exemplars (Chaudhry et al. 2019)."""

    method: ClassVar[str] = "er"
    learner: ClassVar[str] = "merlin_cl.learners.er:ER"

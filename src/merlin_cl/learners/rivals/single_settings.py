"""Settings of `single`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.network_settings import NetworkSettings


@dataclass(frozen=True)
class SingleSettings(NetworkSettings):
    """One network that learns task after task: what happens when nothing is done about forgetting."""

    method: ClassVar[str] = "single"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.single:Single"

    weight_decay: float = 1e-3
    """Weight decay, as an L2 term in the gradient, as in the paper."""

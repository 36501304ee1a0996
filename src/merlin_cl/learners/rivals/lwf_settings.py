"""Settings of `lwf`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class LwFSettings(NetworkSettings):
    """The network is to answer new examples on old classes as it did before the task (Li and Hoiem 2018)."""

    method: ClassVar[str] = "lwf"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.lwf:LwF"
    space: ClassVar[Space] = {**NetworkSettings.space, "strength": Span(0.3, 30), "temperature": Among(1.0, 2.0, 4.0)}

    strength: float = 1.0
    """Weight of the distillation loss (the paper's lambda)."""
    temperature: float = 2.0
    """Softens both networks' answers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "strength")
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}; it must be above 0.")

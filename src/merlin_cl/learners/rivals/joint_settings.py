"""Settings of `joint`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class JointSettings(NetworkSettings):
    """All data of all tasks at once: the ceiling. Keeps every example, so it is no continual learner."""

    method: ClassVar[str] = "joint"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.joint:Joint"
    own_means: ClassVar[frozenset[str]] = frozenset({"updates_per_batch"})  # it makes passes over all examples instead
    ceiling: ClassVar[bool] = True
    space: ClassVar[Space] = {"learning_rate": Span(1e-4, 1e-2), "epochs": Among(5, 10, 20)}

    epochs: int = 20
    """Passes over all examples so far, by a fresh network, when a task ends."""
    batch: int = 32
    """Examples in a batch of these passes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "epochs", "batch")

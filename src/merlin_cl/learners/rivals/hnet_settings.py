"""Settings of `hnet`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class HNETSettings(NetworkSettings):
    """A hypernetwork makes each task's classifier and is kept from changing earlier ones (von Oswald et al. 2020)."""

    method: ClassVar[str] = "hnet"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.hnet:HNET"
    space: ClassVar[Space] = {
        **NetworkSettings.space,
        "strength": Span(1e-3, 1),
        "chunk": Among(2_500, 5_000, 10_000),
        "hidden": Among(5, 10, 20),
    }

    strength: float = 0.01
    """Weight of the squared change of earlier tasks' classifiers (the paper's beta)."""
    chunk: int = 10_000
    """Weights that the hypernetwork makes at once."""
    embedding: int = 32
    """Width of task and chunk embeddings."""
    hidden: int = 20
    """Hidden units of the hypernetwork."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "chunk", "embedding", "hidden")
        self.require_at_least(0, "strength")

"""Settings of the rivals that learn on frozen features. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import NetworkSettings


@dataclass(frozen=True)
class FrozenSettings(NetworkSettings):
    """Features that do not change, or not any more once the first task is learned."""

    own_means: ClassVar[frozenset[str]] = frozenset({"exemplar_choice"})  # a mean is that of a fair sample

    features: str = "learned"
    """What stands for an input."""
    exemplars: int = 200
    """Examples of the first task, kept until it ends and its features are fixed (learned)."""
    exemplar_choice: Choice = "balanced"
    """How these are chosen: `random` (reservoir), `balanced` over classes, or so by `herding`, `k-centre` or `gradient`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "exemplars")

"""Settings of `scr`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import NetworkSettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Among, Space, Span
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.networks.network import Network


@dataclass(frozen=True)
class SCRSettings(ReservoirReplaySettings):
    """Contrastive replay, answered by the nearest mean of exemplars (Mai et al. 2021)."""

    method: ClassVar[str] = "scr"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.scr:SCR"
    own_means: ClassVar[frozenset[str]] = frozenset({"replay"})  # contrasts need many others
    space: ClassVar[Space] = {**NetworkSettings.space, "replay": Among(30, 100), "temperature": Span(0.05, 0.5)}

    replay: int = 100
    """Exemplars that are seen again with every update."""
    temperature: float = 0.07
    """Divides similarities in the contrastive loss."""
    projection: int = 128
    """Width of the projection that similarities are taken of."""
    shift: int = 2
    """Pixels by which the second view of an image is moved at most, in either direction."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "projection")
        self.require_at_least(0, "shift")
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}; it must be above 0.")

    def classifier(self, stream: StreamInfo) -> Network:
        """The network, with the projection in place of logits."""
        return super().classifier(replace(stream, classes=self.projection))

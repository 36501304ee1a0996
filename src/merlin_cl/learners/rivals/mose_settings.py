"""Settings of `mose`. Free of torch."""

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
class MOSESettings(ReservoirReplaySettings):
    """Experts along the depth of one network, each taught by itself, the last by the others (Yan et al. 2024)."""

    method: ClassVar[str] = "mose"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.mose:MOSE"
    own_means: ClassVar[frozenset[str]] = frozenset({"replay"})  # contrasts need many others
    space: ClassVar[Space] = {**NetworkSettings.space, "replay": Among(30, 64), "temperature": Span(0.05, 0.5)}

    replay: int = 64
    """Inputs that balanced batches are filled up to with exemplars of earlier tasks; half of it, less those that arrive, is
    filled with exemplars of the current one."""
    temperature: float = 0.07
    """Divides similarities in the contrastive loss."""
    expert_width: int = 64
    """Features of every expert."""
    projection: int = 128
    """Width of the projection that similarities are taken of."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "expert_width", "projection")
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}; it must be above 0.")

    def classifier(self, stream: StreamInfo) -> Network:
        """The network with an expert after each of its stages."""
        from merlin_cl.networks.experts import DepthExperts

        return DepthExperts.of(super().classifier(replace(stream)), self.expert_width, self.projection)

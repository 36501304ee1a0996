"""Settings of `pcr`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import ReplaySettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Space, Span
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.networks.network import Network


@dataclass(frozen=True)
class PCRSettings(ReservoirReplaySettings):
    """Inputs are drawn to proxies of their classes, among those of the classes at hand (Lin et al. 2023)."""

    method: ClassVar[str] = "pcr"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.pcr:PCR"
    space: ClassVar[Space] = {**ReplaySettings.space, "temperature": Span(0.05, 0.5)}

    temperature: float = 0.09
    """Divides cosines."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}; it must be above 0.")

    def classifier(self, stream: StreamInfo) -> Network:
        """The network, its last layer taken as proxies."""
        from merlin_cl.networks.cosine import CosineNetwork

        return CosineNetwork(super().classifier(stream), self.temperature)

"""Settings of the rivals that replay with more than labels: proxies, a teacher, experts along depth. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import NetworkSettings, ReplaySettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Among, Space, Span
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.networks.network import Network


@dataclass(frozen=True)
class PCRSettings(ReservoirReplaySettings):
    """Inputs are drawn to proxies of their classes, among those of the classes at hand (Lin et al. 2023)."""

    method: ClassVar[str] = "pcr"
    learner: ClassVar[str] = "merlin_cl.learners.pcr:PCR"
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


@dataclass(frozen=True)
class MKDSettings(ReservoirReplaySettings):
    """Replay that also learns from a slowly moving mean of its weights (Michel et al. 2024)."""

    method: ClassVar[str] = "mkd"
    learner: ClassVar[str] = "merlin_cl.learners.mkd:MKD"
    space: ClassVar[Space] = {
        **ReplaySettings.space,
        "strength": Span(0.5, 10),
        "teacher_rate": Among(0.001, 0.003, 0.01),
    }

    teacher_rate: float = 0.01
    """How far the teacher moves towards the network with every update (the paper's alpha)."""
    strength: float = 5.5
    """Weight of the teacher's answers (the paper's lambda)."""
    temperature: float = 4.0
    """Softens both networks' answers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "strength")
        if not 0 < self.teacher_rate <= 1:
            raise UsageError(f"teacher_rate is {self.teacher_rate}; it must be above 0 and at most 1.")
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}; it must be above 0.")


@dataclass(frozen=True)
class MOSESettings(ReservoirReplaySettings):
    """Experts along the depth of one network, each taught by itself, the last by the others (Yan et al. 2024)."""

    method: ClassVar[str] = "mose"
    learner: ClassVar[str] = "merlin_cl.learners.mose:MOSE"
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

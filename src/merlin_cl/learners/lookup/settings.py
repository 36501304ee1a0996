"""Settings of `lookup`. Free of torch."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.networks import worth_convolutions
from merlin_cl.protocol import StreamInfo


@dataclass(frozen=True)
class LookupSettings(MerlinSettings):
    """One network a task, compressed into the bytes that MERLIN has for it: what its weight distribution has to beat."""

    method: ClassVar[str] = "lookup"
    learner: ClassVar[str] = "merlin_cl.learners.lookup.learner:Lookup"
    moved_presets: ClassVar[Mapping[str, str]] = {}

    models: int = 1
    """Networks that answer for a task."""
    base_models: int = 1
    """Networks that learn each task; the first is kept."""
    latent: int = 10_000_000
    """Numbers that a network is learned by: as many as it has weights."""
    learning_rate: float = 2e-3
    """Adam's learning rate."""
    task_kilobytes: float = 24.0
    """What a task may take at the most, besides exemplars."""

    @classmethod
    def untuned(cls, stream: StreamInfo) -> Self:
        """The settings on a stream without a search: MERLIN's, with one network."""
        settings = super().untuned(stream)
        task = 18.0 if worth_convolutions(stream.input_shape) else cls.task_kilobytes
        return replace(settings, models=1, base_models=1, latent=cls.latent, learning_rate=2e-3, task_kilobytes=task)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0.1, "task_kilobytes")

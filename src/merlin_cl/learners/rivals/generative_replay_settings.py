"""Settings of `generative-replay`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.rivals.input_generator_settings import GeneratorSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class GenerativeReplaySettings(GeneratorSettings):
    """Examples of earlier tasks are generated rather than kept (Shin et al. 2017)."""

    method: ClassVar[str] = "generative-replay"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.generative_replay:GenerativeReplay"
    space: ClassVar[Space] = {
        "learning_rate": Span(1e-4, 1e-2),
        "updates_per_batch": Among(1, 3),
        "generator_rate": Span(3e-4, 3e-3),
        "replay": Among(10, 30, 100),
    }

    replay: int = 30
    """Examples generated for every update."""
    generator_updates: int = 5
    """Steps of the generator on each arriving batch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "replay", "generator_updates")

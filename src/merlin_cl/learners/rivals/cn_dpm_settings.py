"""Settings of `cn-dpm`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.rivals.input_generator_settings import GeneratorSettings
from merlin_cl.learners.search_space import Space, Span


@dataclass(frozen=True)
class CNDPMSettings(GeneratorSettings):
    """A growing mixture of experts, each a classifier and a generator of its inputs (Lee et al. 2020)."""

    method: ClassVar[str] = "cn-dpm"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.cn_dpm:CNDPM"
    space: ClassVar[Space] = {
        "surprise": Span(0.5, 6, log=False),
        "learning_rate": Span(1e-4, 1e-2),
        "generator_rate": Span(3e-4, 1e-2),
    }

    exemplars: int = 200
    """Examples that no expert explains are kept, up to so many; then a new expert learns them."""
    surprise: float = 5.6
    """Standard deviations below what its expert usually explains at which an example is taken for something new."""
    experts: int = 20
    """Experts there may be; when there are so many, every example goes to one of them."""
    epochs: int = 40
    """Passes of a new expert over the examples kept."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "exemplars", "experts", "epochs")
        self.require_at_least(0, "surprise")

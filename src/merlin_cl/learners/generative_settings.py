"""Settings of the rivals that model what inputs look like. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class GeneratorSettings(NetworkSettings):
    """A network beside variational autoencoders of the inputs.

    One update a batch unless told otherwise: with ten, what is generated wears out (held-out digits lose one to five points).
    """

    own_means: ClassVar[frozenset[str]] = frozenset({"updates_per_batch"})

    latent: int = 20
    """Width of the generator's latent."""
    generator_hidden: int = 200
    """Hidden units of the generator's encoder and decoder."""
    likelihood: Literal["bernoulli", "gaussian"] = "bernoulli"
    """What the generator takes inputs for: numbers from 0 to 1, such as pixels, or any numbers."""
    noise: float = 0.3
    """Standard deviation of inputs around what is generated (gaussian)."""
    generator_rate: float = 1e-3
    """Adam's learning rate for the generator."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "latent", "generator_hidden")
        self.require_at_least(0, "generator_rate")
        if not self.noise > 0:
            raise UsageError(f"noise is {self.noise}; it must be above 0.")


@dataclass(frozen=True)
class GenerativeReplaySettings(GeneratorSettings):
    """Examples of earlier tasks are generated rather than kept (Shin et al. 2017)."""

    method: ClassVar[str] = "generative-replay"
    learner: ClassVar[str] = "merlin_cl.learners.generative_replay:GenerativeReplay"
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


@dataclass(frozen=True)
class CNDPMSettings(GeneratorSettings):
    """A growing mixture of experts, each a classifier and a generator of its inputs (Lee et al. 2020)."""

    method: ClassVar[str] = "cn-dpm"
    learner: ClassVar[str] = "merlin_cl.learners.cn_dpm:CNDPM"
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

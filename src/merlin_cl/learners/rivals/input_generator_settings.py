"""Settings of the rivals with a generator of inputs. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import NetworkSettings


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

"""Settings of `slda`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.rivals.frozen_features_settings import FrozenSettings
from merlin_cl.learners.search_space import Space, Span


@dataclass(frozen=True)
class SLDASettings(FrozenSettings):
    """A running mean for each class and one covariance, in a space of fixed features (Hayes and Kanan 2020)."""

    method: ClassVar[str] = "slda"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.slda:SLDA"
    space: ClassVar[Space] = {"shrinkage": Span(1e-5, 0.1)}

    features: Literal["random", "inputs", "learned"] = "random"
    """A fixed random layer with ReLU, the inputs themselves, or the classifier's last hidden layer after the first task."""
    width: int = 500
    """Features (random)."""
    shrinkage: float = 1e-4
    """Share of the identity in the covariance."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "width")
        if not 0 < self.shrinkage <= 1:
            raise UsageError(f"shrinkage is {self.shrinkage}; it must be above 0 and at most 1.")

"""Settings of `klda`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.rivals.frozen_features_settings import FrozenSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class KLDASettings(FrozenSettings):
    """Discriminant analysis in the space of a Gaussian kernel, by random Fourier features (Momeni et al. 2025)."""

    method: ClassVar[str] = "klda"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.klda:KLDA"
    space: ClassVar[Space] = {
        "features": Among("inputs", "learned"),
        "bandwidth": Span(0.03, 3),
        "shrinkage": Span(1e-4, 1),
    }

    features: Literal["inputs", "learned"] = "inputs"
    """The inputs themselves, or the classifier's last hidden layer as the first task leaves it."""
    width: int = 1000
    """Random Fourier features (the paper's D)."""
    gamma: float = 0.0
    """The kernel is exp(-gamma |x - x'|^2); 0: `bandwidth` over the mean squared distance within the first batch."""
    bandwidth: float = 0.5
    """gamma in that unit."""
    shrinkage: float = 0.01
    """Share of the identity in the covariance, in units of a feature's mean square."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "width")
        self.require_at_least(0, "gamma")
        for name in ("bandwidth", "shrinkage"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be above 0.")

"""Settings of the rivals that learn nothing but sums over fixed features. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import NetworkSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class FrozenSettings(NetworkSettings):
    """Features that do not change, or not any more once the first task is learned."""

    own_means: ClassVar[frozenset[str]] = frozenset({"exemplar_choice"})  # a mean is that of a fair sample

    features: str = "learned"
    """What stands for an input."""
    exemplars: int = 200
    """Examples of the first task, kept until it ends and its features are fixed (learned)."""
    exemplar_choice: Choice = "balanced"
    """How these are chosen: `random` (reservoir), `balanced` over classes, or so by `herding`, `k-centre` or `gradient`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "exemplars")


@dataclass(frozen=True)
class SLDASettings(FrozenSettings):
    """A running mean for each class and one covariance, in a space of fixed features (Hayes and Kanan 2020)."""

    method: ClassVar[str] = "slda"
    learner: ClassVar[str] = "merlin_cl.learners.slda:SLDA"
    space: ClassVar[Space] = {"shrinkage": Span(1e-5, 0.1)}

    features: Literal["random", "learned"] = "random"
    """A fixed random layer with ReLU, or the classifier's last hidden layer as the first task leaves it."""
    width: int = 500
    """Features (random)."""
    shrinkage: float = 1e-4
    """Share of the identity in the covariance."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "width")
        if not 0 < self.shrinkage <= 1:
            raise UsageError(f"shrinkage is {self.shrinkage}; it must be above 0 and at most 1.")


@dataclass(frozen=True)
class KLDASettings(FrozenSettings):
    """Discriminant analysis in the space of a Gaussian kernel, by random Fourier features (Momeni et al. 2025)."""

    method: ClassVar[str] = "klda"
    learner: ClassVar[str] = "merlin_cl.learners.klda:KLDA"
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


@dataclass(frozen=True)
class RanPACSettings(FrozenSettings):
    """A random projection and ridge regression, summed up over the stream (McDonnell et al. 2023)."""

    method: ClassVar[str] = "ranpac"
    learner: ClassVar[str] = "merlin_cl.learners.ranpac:RanPAC"
    space: ClassVar[Space] = {"features": Among("inputs", "learned"), "width": Among(500, 1000, 2000)}

    features: Literal["inputs", "learned"] = "inputs"
    """The inputs themselves, or the classifier's last hidden layer as the first task leaves it."""
    width: int = 1000
    """Numbers that features are projected to (the paper's M)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "width")


@dataclass(frozen=True)
class SimpleCILSettings(FrozenSettings):
    """The mean feature of each class (Zhou et al. 2024)."""

    method: ClassVar[str] = "simplecil"
    learner: ClassVar[str] = "merlin_cl.learners.simplecil:SimpleCIL"
    space: ClassVar[Space] = {"features": Among("inputs", "learned")}

    features: Literal["inputs", "learned"] = "inputs"
    """The inputs themselves, or the classifier's last hidden layer as the first task leaves it."""

"""Settings of `ranpac`. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.learners.rivals.frozen_features_settings import FrozenSettings
from merlin_cl.learners.search_space import Among, Space


@dataclass(frozen=True)
class RanPACSettings(FrozenSettings):
    """A random projection and ridge regression, summed up over the stream (McDonnell et al. 2023)."""

    method: ClassVar[str] = "ranpac"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.ranpac:RanPAC"
    space: ClassVar[Space] = {"features": Among("inputs", "learned"), "width": Among(500, 1000, 2000)}

    features: Literal["inputs", "learned"] = "inputs"
    """The inputs themselves, or the classifier's last hidden layer as the first task leaves it."""
    width: int = 1000
    """Numbers that features are projected to (the paper's M)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "width")

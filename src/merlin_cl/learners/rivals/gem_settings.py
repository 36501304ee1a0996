"""Settings of `gem`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import ChoiceSettings, NetworkSettings
from merlin_cl.learners.search_space import Among, Space, Span


@dataclass(frozen=True)
class GEMSettings(ChoiceSettings):
    """No step that raises the loss of any earlier task's exemplars (Lopez-Paz and Ranzato 2017)."""

    method: ClassVar[str] = "gem"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.gem:GEM"
    own_means: ClassVar[frozenset[str]] = frozenset({"optimiser"})
    space: ClassVar[Space] = {**NetworkSettings.space, "learning_rate": Span(1e-2, 0.3), "margin": Among(0.0, 0.5, 1.0)}

    optimiser: Literal["adam", "sgd"] = "sgd"
    """Plain gradient descent; Adam would turn the step away from the projected gradient."""
    learning_rate: float = 0.1
    """The optimiser's learning rate."""
    exemplar_choice: Choice = "balanced"
    """How exemplars are chosen: `random` (reservoir), `balanced` over classes, or so by `herding`, `k-centre` or `gradient`."""
    margin: float = 0.5
    """The least weight of every earlier task's gradient in a projected one (the paper's gamma)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "margin")

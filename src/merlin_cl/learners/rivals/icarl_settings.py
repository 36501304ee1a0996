"""Settings of `icarl`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import ReservoirReplaySettings


@dataclass(frozen=True)
class ICaRLSettings(ReservoirReplaySettings):
    """The nearest mean of herded exemplars, with features kept by distillation (Rebuffi et al. 2017). New classes only."""

    method: ClassVar[str] = "icarl"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.icarl:ICaRL"
    own_means: ClassVar[frozenset[str]] = frozenset({"exemplar_choice"})  # it herds by features that it learns

    exemplar_choice: Choice = "balanced"
    """Which examples of new classes are kept until the task ends and they are herded: `random` (reservoir), `balanced` over
    classes, or so by `herding`, `k-centre` or `gradient`."""

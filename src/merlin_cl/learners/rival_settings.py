"""Settings of the rivals, a class each. Free of torch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.ensemble_settings import Choice
from merlin_cl.learners.network_settings import MemorySettings, ReplaySettings


@dataclass(frozen=True)
class ERSettings(ReplaySettings):
    """Experience replay: every batch is learned from together with exemplars (Chaudhry et al. 2019)."""

    method: ClassVar[str] = "er"
    learner: ClassVar[str] = "merlin_cl.learners.er:ER"


@dataclass(frozen=True)
class ERACESettings(ReplaySettings):
    """Replay in which arriving examples choose among the classes of their batch only (Caccia et al. 2022)."""

    method: ClassVar[str] = "er-ace"
    learner: ClassVar[str] = "merlin_cl.learners.er_ace:ERACE"


@dataclass(frozen=True)
class EREMASettings(ReplaySettings):
    """Replay that answers with a running mean of its weights (Soutif-Cormerais et al. 2023)."""

    method: ClassVar[str] = "er-ema"
    learner: ClassVar[str] = "merlin_cl.learners.er_ema:EREMA"

    averaging: float = 0.99
    """Decay of the running mean, an update at a time; 0: the weights themselves."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.averaging < 1:
            raise UsageError(f"averaging is {self.averaging}; it must be at least 0 and below 1.")


@dataclass(frozen=True)
class DERSettings(ReplaySettings):
    """Replay of exemplars with the logits they had when they arrived (Buzzega et al. 2020)."""

    method: ClassVar[str] = "der"
    learner: ClassVar[str] = "merlin_cl.learners.der:DER"

    alpha: float = 0.2
    """Weight of the squared distance from the logits kept."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "alpha")


@dataclass(frozen=True)
class DERPlusPlusSettings(DERSettings):
    """DER that replays labels as well (Buzzega et al. 2020)."""

    method: ClassVar[str] = "der++"
    learner: ClassVar[str] = "merlin_cl.learners.der:DERPlusPlus"

    beta: float = 1.0
    """Weight of the cross-entropy on exemplars."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "beta")


@dataclass(frozen=True)
class MIRSettings(ReplaySettings):
    """Replay of the exemplars that the arriving batch would harm most (Aljundi et al. 2019)."""

    method: ClassVar[str] = "mir"
    learner: ClassVar[str] = "merlin_cl.learners.mir:MIR"

    candidates: int = 50
    """Exemplars drawn, of which the most interfered are replayed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(self.replay, "candidates")


@dataclass(frozen=True)
class AGEMSettings(ReplaySettings):
    """No step against the mean gradient of earlier tasks' exemplars (Chaudhry et al. 2019)."""

    method: ClassVar[str] = "agem"
    learner: ClassVar[str] = "merlin_cl.learners.agem:AGEM"

    optimiser: Literal["adam", "sgd"] = "sgd"
    """Plain gradient descent; Adam would turn the step away from the projected gradient."""
    learning_rate: float = 0.1
    """The optimiser's learning rate."""
    exemplar_choice: Choice = "balanced"
    """How exemplars are chosen: `random` (reservoir) or `balanced` (class-balanced reservoir)."""
    replay: int = 256
    """Exemplars, of those of earlier tasks, that the reference gradient is taken of."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "replay")


@dataclass(frozen=True)
class GEMSettings(MemorySettings):
    """No step that raises the loss of any earlier task's exemplars (Lopez-Paz and Ranzato 2017)."""

    method: ClassVar[str] = "gem"
    learner: ClassVar[str] = "merlin_cl.learners.gem:GEM"

    optimiser: Literal["adam", "sgd"] = "sgd"
    """Plain gradient descent; Adam would turn the step away from the projected gradient."""
    learning_rate: float = 0.1
    """The optimiser's learning rate."""
    exemplar_choice: Choice = "balanced"
    """How exemplars are chosen: `random` (reservoir) or `balanced` (class-balanced reservoir)."""
    margin: float = 0.5
    """The least weight of every earlier task's gradient in a projected one (the paper's gamma)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "margin")

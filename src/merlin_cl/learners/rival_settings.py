"""Settings of the rivals that keep examples, a class each. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.means import Choice
from merlin_cl.learners.network_settings import ChoiceSettings, NetworkSettings, ReplaySettings, ReservoirReplaySettings
from merlin_cl.learners.search_space import Among, Space, Span
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.networks.network import Network


@dataclass(frozen=True)
class ERSettings(ReservoirReplaySettings):
    """Experience replay: every batch is learned from together with exemplars (Chaudhry et al. 2019)."""

    method: ClassVar[str] = "er"
    learner: ClassVar[str] = "merlin_cl.learners.er:ER"


@dataclass(frozen=True)
class ERACESettings(ReservoirReplaySettings):
    """Replay in which arriving examples choose among the classes of their batch only (Caccia et al. 2022)."""

    method: ClassVar[str] = "er-ace"
    learner: ClassVar[str] = "merlin_cl.learners.er_ace:ERACE"


@dataclass(frozen=True)
class EREMASettings(ReservoirReplaySettings):
    """Replay that answers with a running mean of its weights (Soutif-Cormerais et al. 2023)."""

    method: ClassVar[str] = "er-ema"
    learner: ClassVar[str] = "merlin_cl.learners.er_ema:EREMA"
    space: ClassVar[Space] = {**ReplaySettings.space, "averaging": Among(0.9, 0.97, 0.99, 0.995)}

    averaging: float = 0.99
    """Decay of the running mean, an update at a time; 0: the weights themselves."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.averaging < 1:
            raise UsageError(f"averaging is {self.averaging}; it must be at least 0 and below 1.")


@dataclass(frozen=True)
class DERSettings(ReservoirReplaySettings):
    """Replay of exemplars with the logits they had when they arrived (Buzzega et al. 2020)."""

    method: ClassVar[str] = "der"
    learner: ClassVar[str] = "merlin_cl.learners.der:DER"
    space: ClassVar[Space] = {**ReplaySettings.space, "alpha": Span(0.05, 5)}

    alpha: float = 1.0
    """Weight of the squared distance from the logits kept."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "alpha")


@dataclass(frozen=True)
class DERPlusPlusSettings(DERSettings):
    """DER that replays labels as well (Buzzega et al. 2020)."""

    method: ClassVar[str] = "der++"
    learner: ClassVar[str] = "merlin_cl.learners.der:DERPlusPlus"
    space: ClassVar[Space] = {**DERSettings.space, "beta": Span(0.2, 5)}

    alpha: float = 0.2
    """Weight of the squared distance from the logits kept."""
    beta: float = 1.0
    """Weight of the cross-entropy on exemplars."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "beta")


@dataclass(frozen=True)
class MIRSettings(ReservoirReplaySettings):
    """Replay of the exemplars that the arriving batch would harm most (Aljundi et al. 2019)."""

    method: ClassVar[str] = "mir"
    learner: ClassVar[str] = "merlin_cl.learners.mir:MIR"
    space: ClassVar[Space] = {**NetworkSettings.space, "replay": Among(10, 30), "candidates": Among(50, 100)}

    candidates: int = 50
    """Exemplars drawn, of which the most interfered are replayed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(self.replay, "candidates")


@dataclass(frozen=True)
class AGEMSettings(ReservoirReplaySettings):
    """No step against the mean gradient of earlier tasks' exemplars (Chaudhry et al. 2019)."""

    method: ClassVar[str] = "agem"
    learner: ClassVar[str] = "merlin_cl.learners.agem:AGEM"
    own_means: ClassVar[frozenset[str]] = frozenset({"optimiser", "learning_rate", "replay"})
    space: ClassVar[Space] = {**NetworkSettings.space, "learning_rate": Span(1e-2, 0.3)}

    optimiser: Literal["adam", "sgd"] = "sgd"
    """Plain gradient descent; Adam would turn the step away from the projected gradient."""
    learning_rate: float = 0.1
    """The optimiser's learning rate."""
    exemplar_choice: Choice = "balanced"
    """How exemplars are chosen: `random` (reservoir), `balanced` over classes, or so by `herding`, `k-centre` or `gradient`."""
    replay: int = 256
    """Exemplars, of those of earlier tasks, that the reference gradient is taken of."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "replay")


@dataclass(frozen=True)
class GEMSettings(ChoiceSettings):
    """No step that raises the loss of any earlier task's exemplars (Lopez-Paz and Ranzato 2017)."""

    method: ClassVar[str] = "gem"
    learner: ClassVar[str] = "merlin_cl.learners.gem:GEM"
    own_means: ClassVar[frozenset[str]] = frozenset({"optimiser", "learning_rate"})
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


@dataclass(frozen=True)
class ICaRLSettings(ReservoirReplaySettings):
    """The nearest mean of herded exemplars, with features kept by distillation (Rebuffi et al. 2017). New classes only."""

    method: ClassVar[str] = "icarl"
    learner: ClassVar[str] = "merlin_cl.learners.icarl:ICaRL"
    own_means: ClassVar[frozenset[str]] = frozenset({"exemplar_choice"})  # it herds by features that it learns

    exemplar_choice: Choice = "balanced"
    """Which examples of new classes are kept until the task ends and they are herded: `random` (reservoir), `balanced` over
    classes, or so by `herding`, `k-centre` or `gradient`."""


@dataclass(frozen=True)
class GSSSettings(ReplaySettings):
    """Replay from a memory whose gradients are as diverse as can be (Aljundi et al. 2019)."""

    method: ClassVar[str] = "gss"
    learner: ClassVar[str] = "merlin_cl.learners.gss:GSS"

    selection: Literal["greedy", "integer"] = "greedy"
    """How exemplars are chosen: each newcomer against a sample of the memory, or by an integer program over all."""
    compared: int = 10
    """Exemplars that a newcomer's gradient is compared with (greedy)."""
    recent: int = 50
    """Examples that a full memory gives up at once, to be filled with the newest until the next choice (integer)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "compared", "recent")
        if self.selection == "integer" and self.recent >= self.exemplars:
            raise UsageError(f"recent is {self.recent}; it must be below exemplars, which is {self.exemplars}.")


@dataclass(frozen=True)
class SCRSettings(ReservoirReplaySettings):
    """Contrastive replay, answered by the nearest mean of exemplars (Mai et al. 2021)."""

    method: ClassVar[str] = "scr"
    learner: ClassVar[str] = "merlin_cl.learners.scr:SCR"
    own_means: ClassVar[frozenset[str]] = frozenset({"replay"})  # contrasts need many others
    space: ClassVar[Space] = {**NetworkSettings.space, "replay": Among(30, 100), "temperature": Span(0.05, 0.5)}

    replay: int = 100
    """Exemplars that are seen again with every update."""
    temperature: float = 0.07
    """Divides similarities in the contrastive loss."""
    projection: int = 128
    """Width of the projection that similarities are taken of."""
    shift: int = 2
    """Pixels by which the second view of an image is moved at most, in either direction."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "projection")
        self.require_at_least(0, "shift")
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}; it must be above 0.")

    def classifier(self, stream: StreamInfo) -> Network:
        """The network, with the projection in place of logits."""
        return super().classifier(replace(stream, classes=self.projection))

"""Settings of `gss`. Free of torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from merlin_cl.errors import UsageError
from merlin_cl.learners.network_settings import ReplaySettings


@dataclass(frozen=True)
class GSSSettings(ReplaySettings):
    """Replay from a memory whose gradients are as diverse as can be (Aljundi et al. 2019)."""

    method: ClassVar[str] = "gss"
    learner: ClassVar[str] = "merlin_cl.learners.rivals.gss:GSS"

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

"""What methods with exemplars share: a memory filled from the stream as it passes, and draws from it."""

from typing import TypeVar

import torch
from torch import Tensor

from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.network_settings import BudgetSettings, ReplaySettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State, as_float, rows

WithMemory = TypeVar("WithMemory", bound=BudgetSettings)
Settings = TypeVar("Settings", bound=ReplaySettings)


class MemoryLearner(NetworkLearner[WithMemory]):
    """One network and a memory. What arrives enters the memory after it was learned from, so none is replayed at once."""

    def __init__(self, stream: StreamInfo, settings: WithMemory, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.memory = ExemplarMemory(
            settings.exemplars, settings.reservoir, stream.input_shape, self.generator("exemplars")
        )

    def _observe(self, x: Tensor, y: Tensor) -> None:
        super()._observe(x, y)
        self._remember(x, y)

    def _remember(self, x: Tensor, y: Tensor) -> None:
        """Show the memory what has been learned from, in the form in which it arrived."""
        self.memory.offer(x, y, self.tasks[-1].index)

    def _state(self) -> State:
        return {**super()._state(), "memory": self.memory.state()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.memory.restore(state["memory"])

    def stored_bytes(self) -> dict[str, int]:
        """The network, the optimiser and the exemplars."""
        return {**super().stored_bytes(), "exemplars": self.memory.stored_bytes}


class ReplayLearner(MemoryLearner[Settings]):
    """A learner that draws from its memory."""

    def __init__(self, stream: StreamInfo, settings: Settings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self._draws = self.generator("replay")

    def _drawn(self, count: int, among: Tensor | None = None) -> Tensor:
        """Places of up to `count` exemplars, drawn without replacement from all or from those at some places."""
        size = len(self.memory) if among is None else len(among)
        drawn = torch.randperm(size, generator=self._draws)[:count].to(self.device)
        return drawn if among is None else rows(among, drawn)

    def _exemplars_at(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs, as floats and augmented, and labels of some exemplars."""
        places = places.to(self.memory.x.device)  # an empty memory does not know its device yet
        return self._augmented(as_float(rows(self.memory.x, places))), rows(self.memory.y, places)

    def _with_replay(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Arriving examples followed by drawn exemplars."""
        if len(self.memory) == 0:
            return x, y
        old_x, old_y = self._exemplars_at(self._drawn(self.settings.replay))
        return torch.cat([x, old_x]), torch.cat([y, old_y])

    def _state(self) -> State:
        return {**super()._state(), "draws": self._draws.get_state()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self._draws.set_state(state["draws"])

"""Where a method with exemplars starts from: a network, and a memory that is filled from the stream as it passes.

    class Doubled(ReplayLearner[DoubledSettings]):
        def _update(self, x, y):
            old_x, old_y = self.replayed()
            logits, old_logits = self.forward(torch.cat([x, old_x])).split([len(x), len(old_x)])
            self.descend(self.cross_entropy(logits, y) + 2 * self.cross_entropy(old_logits, old_y))

docs/write-your-own.md leads from here to a package.
"""

from typing import TypeVar

import torch
from torch import Tensor

from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.network_settings import ReplaySettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State, as_float, rows

Settings = TypeVar("Settings", bound=ReplaySettings)


class ReplayLearner(NetworkLearner[Settings]):
    """One network and a memory of `settings.exemplars` examples, of which it sees `settings.replay` again with every update.

    A method implements `_update(x, y)` as for `NetworkLearner`, and may use what is below: `with_replay(x, y)` puts exemplars
    behind what arrives, `replayed()` gives them by themselves. What is drawn is part of the state.

    What arrives enters `memory` after it was learned from, in the form in which it arrived, so none is replayed at once. The
    memory has `x` and `y`, and the `tasks` that exemplars came with; `len(memory)` of them are held.
    """

    def __init__(self, stream: StreamInfo, settings: Settings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.memory = ExemplarMemory(
            settings.exemplars, settings.reservoir, stream.input_shape, self.generator("exemplars"), self.device
        )
        self.draws = self.generator("replay")

    # What a method implements, besides what `NetworkLearner` asks for

    def _remember(self, x: Tensor, y: Tensor) -> None:
        """Show the memory what has been learned from, in the form in which it arrived."""
        self.memory.offer(x, y, self.tasks[-1].index)

    # What a method may use

    def replayed(self) -> tuple[Tensor, Tensor]:
        """Inputs, as floats and augmented, and labels of `settings.replay` exemplars, or of as many as there are."""
        return self.exemplars_at(self.drawn(self.settings.replay))

    def with_replay(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Examples that arrive, followed by exemplars."""
        if len(self.memory) == 0:
            return x, y
        old_x, old_y = self.replayed()
        return torch.cat([x, old_x]), torch.cat([y, old_y])

    def drawn(self, count: int, candidates: Tensor | None = None) -> Tensor:
        """Places of up to `count` exemplars, int64, drawn without replacement from all or from those at some places."""
        size = len(self.memory) if candidates is None else len(candidates)
        drawn = torch.randperm(size, generator=self.draws)[:count].to(self.device)
        return drawn if candidates is None else rows(candidates, drawn)

    def exemplars_at(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs, as floats and augmented, and labels of the exemplars at some places."""
        if len(places) == 0:  # an empty memory knows neither its type nor its device yet
            return torch.zeros(0, *self.stream.input_shape, device=self.device), places
        return self.augmented(as_float(rows(self.memory.x, places))), rows(self.memory.y, places)

    # The life cycle

    def _observe(self, x: Tensor, y: Tensor) -> None:
        """Update the network, then remember."""
        super()._observe(x, y)
        self._remember(x, y)

    def _state(self) -> State:
        """The network's, the memory, and where the draws are."""
        return {**super()._state(), "memory": self.memory.state(), "draws": self.draws.get_state()}

    def _restore(self, state: State) -> None:
        """Take over the network's, the memory, and where the draws are."""
        super()._restore(state)
        self.memory.restore(state["memory"])
        self.draws.set_state(state["draws"])

    def stored_bytes(self) -> dict[str, int]:
        """The network, the optimiser and the exemplars."""
        return {**super().stored_bytes(), "exemplars": self.memory.stored_bytes}

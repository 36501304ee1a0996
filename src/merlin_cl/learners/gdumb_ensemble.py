"""`gdumb-ensemble`: the exemplar-only control. E fresh networks are trained on the exemplars when an answer is wanted."""

from torch import Tensor

from merlin_cl.learners.control_settings import GDumbEnsembleSettings
from merlin_cl.learners.exemplar_ensemble import fine_tune
from merlin_cl.learners.exemplars import ExemplarMemory
from merlin_cl.learners.learner import Learner, State, as_float
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.mlp import MLP
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo


class GDumbEnsemble(Learner[GDumbEnsembleSettings]):
    """GDumb (Prabhu, Torr and Dokania 2020) with an ensemble: it keeps exemplars and learns nothing else from the stream.

    With the same seed, budget and choice it holds exactly MERLIN's exemplars, and it trains exactly as MERLIN fine-tunes.
    """

    def __init__(self, stream: StreamInfo, settings: GDumbEnsembleSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.memory = ExemplarMemory(
            settings.exemplars, settings.exemplar_choice, stream.input_shape, self.generator("exemplars")
        )
        self._network = MLP(stream.input_shape, stream.classes, settings.hidden_units)
        self._prepared: Bank | None = None

    def _begin(self, task: TaskInfo) -> None:
        pass

    def _observe(self, x: Tensor, y: Tensor) -> None:
        self.memory.offer(x, y, self.tasks[-1].index)
        self._prepared = None

    def _end(self) -> None:
        pass

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        return vote(self._ensemble().logits(as_float(x)), allowed, self.settings.vote)

    def _ensemble(self) -> Bank:
        """E fresh networks trained on the exemplars; the same exemplars give the same networks."""
        if self._prepared is None:
            with self.phases.timed("infer"):
                generator = self.generator("fresh", len(self.tasks))
                bank = Bank(self._network, self._network.initial(self.settings.models, generator).to(self.device))
                allowed = self._allowed([self.seen])[0]
                fine_tune(bank, self.memory.x, self.memory.y, allowed, self.settings, generator, self.phases)
            self._prepared = bank
        return self._prepared

    def _state(self) -> State:
        return {"memory": self.memory.state()}

    def _restore(self, state: State) -> None:
        self.memory.restore(state["memory"])
        self._prepared = None

    def stored_bytes(self) -> dict[str, int]:
        """The exemplars and nothing else."""
        return {"exemplars": self.memory.stored_bytes}

    def parameters(self) -> dict[str, int]:
        """Weights of one classifier."""
        return {"classifier": self._network.size}

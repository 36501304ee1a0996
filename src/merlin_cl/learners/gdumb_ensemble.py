"""`gdumb-ensemble`: the exemplar-only control. E fresh networks are trained on the exemplars when an answer is wanted."""

from torch import Tensor

from merlin_cl.learners.control_settings import GDumbEnsembleSettings
from merlin_cl.learners.ensemble_learner import EnsembleLearner
from merlin_cl.learners.learner import State, as_float
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference, TaskInfo


class GDumbEnsemble(EnsembleLearner[GDumbEnsembleSettings]):
    """GDumb (Prabhu, Torr and Dokania 2020) with an ensemble: it keeps exemplars and learns nothing else from the stream.

    With the same seed, budget and choice it holds exactly MERLIN's exemplars, and it trains exactly as MERLIN fine-tunes.
    """

    def _begin(self, task: TaskInfo) -> None:
        self._ensembles.clear()  # there are more classes to choose among

    def _observe(self, x: Tensor, y: Tensor) -> None:
        self.memory.offer(x, y, self.tasks[-1].index)
        self._ensembles.clear()

    def _end(self) -> None:
        pass

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        return vote(self._ensemble().logits(as_float(x)), allowed, self.settings.vote)

    def _ensemble(self) -> Bank:
        """E fresh networks trained on the exemplars; the same exemplars give the same networks."""
        if "fresh" not in self._ensembles:
            weights = self._initial(self.models, self.generator("fresh", len(self.tasks)))
            fresh, x, y = Bank(self.network, weights), self.memory.x, self.memory.y
            with self.phases.timed("infer"):
                epochs = self.settings.fine_tune_epochs
                self._ensembles["fresh"] = self._fine_tune(fresh, x, y, self.seen, epochs, purpose="fresh")
        return self._ensembles["fresh"]

    def _state(self) -> State:
        return {"memory": self.memory.state()}

    def _restore(self, state: State) -> None:
        self.memory.restore(state["memory"])
        self._ensembles.clear()

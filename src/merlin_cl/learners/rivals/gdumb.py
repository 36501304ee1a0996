"""`gdumb-ensemble` and `gdumb`, the exemplar-only controls: fresh networks, trained on the exemplars when an answer is wanted."""

from torch import Tensor

from merlin_cl.learners.ensemble_learner import EnsembleLearner
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.learners.uncertainty import Members
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference, TaskInfo
from merlin_cl.tensors import State, as_float


class GDumbEnsemble(EnsembleLearner[GDumbEnsembleSettings]):
    """GDumb (Prabhu, Torr and Dokania 2020) with an ensemble: it keeps exemplars and learns nothing else from the stream.

    With the same seed, budget and choice it holds exactly MERLIN's exemplars, and it trains exactly as MERLIN fine-tunes.

    Three tasks of Split MNIST, 60 images each:

    >>> from merlin_cl import run
    >>> outcome = run("split-mnist", "gdumb-ensemble", tasks=3, images_per_task=60, settings={"models": 3})
    >>> f"{outcome.final_accuracy:.0f} %"
    '92 %'
    """

    def _begin(self, task: TaskInfo) -> None:
        self._ensembles.clear()  # there are more classes to choose among

    def _observe(self, x: Tensor, y: Tensor) -> None:
        self.memory.offer(x, y, self.tasks[-1].index)
        self._ensembles.clear()

    def _end(self) -> None:
        pass

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        return vote(self.ensemble().logits(as_float(x)), allowed, self.settings.vote)

    def _members(self, x: Tensor, task: int | None, inference: Inference | None) -> Members:
        classes = self.seen if task is None else self.tasks[task].classes
        return self.equal_members(self.ensemble().logits(as_float(x)), classes)

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """E fresh networks, or some number of them, trained on the exemplars, the same for every task."""
        if "fresh" not in self._ensembles:
            self._ensembles["fresh"] = self._trained(self.models)
        ready = self._ensembles["fresh"]
        return ready if models is None else ready.first(models) or self._trained(models)

    def _trained(self, count: int) -> Bank:
        """Fresh networks trained on the exemplars; the same exemplars give the same networks."""
        fresh = Bank(self.network, self._initial(count, self.generator("fresh", len(self.tasks))))
        with self.phases.timed("infer"):
            return self.fine_tuned(fresh, purpose="fresh")

    def _state(self) -> State:
        return {"memory": self.memory.state()}

    def _restore(self, state: State) -> None:
        self.memory.restore(state["memory"])
        self._ensembles.clear()


class GDumb(GDumbEnsemble):
    """Greedy sampler and dumb learner (Prabhu, Torr and Dokania 2020).

    An ensemble of one: see `gdumb-ensemble`. Deviations: a balanced reservoir rather than each class's first examples; Adam
    at a constant rate, with as many passes as MERLIN's fine-tuning, rather than plain descent at a cyclic rate with CutMix.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'gdumb', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '91 %'
    """

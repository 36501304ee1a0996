"""`single`: one network learns task after task, and forgets."""

from torch import Tensor

from merlin_cl.learners.control_settings import SingleSettings
from merlin_cl.learners.learner import Learner, State, as_float
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo


class Single(Learner[SingleSettings]):
    """The paper's crude baseline: a single model is trained across tasks, the optimiser going on as well."""

    def __init__(self, stream: StreamInfo, settings: SingleSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        network = settings.classifier(stream)
        self._bank = Bank(network, network.initial(1, self.generator("initial")).to(self.device))
        self._training = Training(self._bank, settings.learning_rate, settings.weight_decay, decoupled=False)

    def _begin(self, task: TaskInfo) -> None:
        pass

    def _observe(self, x: Tensor, y: Tensor) -> None:
        with self.phases.timed("base"):
            for _ in range(self.settings.updates_per_batch):
                self._training.step(as_float(x), y, self._allowed([self.seen])[0])

    def _end(self) -> None:
        pass

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        return vote(self._bank.logits(as_float(x)), allowed, "sum-logits")

    def _state(self) -> State:
        return {"weights": self._bank.weights.clone(), "training": self._training.state()}

    def _restore(self, state: State) -> None:
        self._bank.weights.copy_(state["weights"])
        self._training.restore(state["training"])

    def stored_bytes(self) -> dict[str, int]:
        """The network, and Adam's two moments, which live on between tasks."""
        return {"classifier": 4 * self._bank.network.size, "optimiser": 8 * self._bank.network.size}

    def parameters(self) -> dict[str, int]:
        """Weights of the classifier."""
        return {"classifier": self._bank.network.size}

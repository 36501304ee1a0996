"""`single`: one network learns task after task, and forgets."""

from torch import Tensor

from merlin_cl.learners.control_settings import SingleSettings
from merlin_cl.learners.network_learner import NetworkLearner


class Single(NetworkLearner[SingleSettings]):
    """The paper's crude baseline: a single model is trained across tasks."""

    def _update(self, x: Tensor, y: Tensor) -> None:
        self._training.step(x, y, self._competing)

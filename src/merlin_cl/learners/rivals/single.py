"""`single`: one network learns task after task, and forgets."""

from torch import Tensor

from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.rivals.single_settings import SingleSettings


class Single(NetworkLearner[SingleSettings]):
    """The paper's crude baseline: a single model is trained across tasks.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'single', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '27 %'
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        self.learn(x, y)

"""`er`: experience replay."""

from torch import Tensor

from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.er_settings import ERSettings


class ER(ReplayLearner[ERSettings]):
    """Experience replay with a reservoir (Chaudhry et al. 2019, "On tiny episodic memories in continual learning").

    Every batch is learned from together with as many exemplars, which a reservoir has kept: their ER-Reservoir, batches of
    10 and 10 as there. Deviations: Adam rather than plain descent, as in the paper's other methods; one head whose unseen
    classes are masked, rather than one a task.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'er', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '89 %'
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        self.learn(*self.with_replay(x, y))

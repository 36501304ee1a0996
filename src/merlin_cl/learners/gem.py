"""`gem`: no step that raises the loss of any earlier task's memory."""

import quadprog
import torch
from torch import Tensor

from merlin_cl.learners.learner import as_float
from merlin_cl.learners.replay_learner import MemoryLearner
from merlin_cl.learners.rival_settings import GEMSettings


class GEM(MemoryLearner[GEMSettings]):
    """Gradient episodic memory (Lopez-Paz and Ranzato 2017, "Gradient episodic memory for continual learning").

    The gradient is projected to the nearest vector that points against the gradient of no earlier task's exemplars: a
    quadratic program, solved exactly in its dual with a variable a task. Plain descent, its rate of 0.1 and the margin of 0.5
    are theirs on MNIST. Deviations: the exemplars are a balanced reservoir of the stream rather than each task's
    last ones; one head whose unseen classes are masked, rather than one a task.
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        memories = [self.memory.of_task(task.index) for task in self.tasks[:-1]]
        constraints = [
            self._gradient((as_float(old_x), self._cross_entropy(old_y))).clone()
            for old_x, old_y in memories
            if len(old_y)
        ]
        gradient = self._gradient((x, self._cross_entropy(y)))
        if constraints:
            gradient.copy_(projected(gradient, torch.stack(constraints), self.settings.margin))
        self._training.update()


def projected(gradient: Tensor, constraints: Tensor, margin: float = 0.0) -> Tensor:
    """The vector z nearest to `gradient` [P] with G z >= 0, G being `constraints` [k, P].

    In the dual: z = g + G'v, where v minimises v'GG'v / 2 + v'Gg over v >= 0. With v >= margin, z is moved
    further to where earlier tasks gain. A gradient that breaks no constraint is left alone.
    """
    products = (constraints @ gradient).double()  # [k]
    if (products >= 0).all():
        return gradient
    gram = (constraints @ constraints.T).double()  # [k, k]
    gram = (gram + gram.T) / 2
    # Strictly convex, as the solver wants it, though gradients may depend on each other.
    gram += (1e-9 * gram.diagonal().mean() + 1e-30) * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    size = len(products)
    least = torch.full((size,), margin, dtype=gram.dtype)
    v = quadprog.solve_qp(gram.cpu().numpy(), -products.cpu().numpy(), torch.eye(size).double().numpy(), least.numpy())[
        0
    ]
    return gradient + torch.from_numpy(v).to(gradient) @ constraints

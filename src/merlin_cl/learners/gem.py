"""`gem`: no step that raises the loss of any earlier task's memory."""

import numpy as np
import quadprog
import torch
from torch import Tensor

from merlin_cl.learners.learner import as_float, rows
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
        old_x, old_y, sizes = self._memories()
        gradients = self._gradients_of(torch.cat([old_x, x]), torch.cat([old_y, y]), [*sizes, len(y)])  # [k + 1, P]
        references, gradient = gradients[:-1], gradients[-1]
        products = references @ gradient
        if (products < 0).any():
            added = multipliers((references @ references.T).double(), products.double(), self.settings.margin)
            gradient = torch.addmv(gradient, references.T, added.float())
        self._training.update(gradient.unsqueeze(0))

    def _memories(self) -> tuple[Tensor, Tensor, list[int]]:
        """Exemplars of earlier tasks, inputs as floats, task after task, and how many each task has."""
        tasks = self.memory.tasks
        count = torch.bincount(tasks, minlength=self.tasks[-1].index)[: self.tasks[-1].index].tolist()
        order = tasks.argsort(stable=True)[: sum(count)]
        x, y = as_float(rows(self.memory.x, order)), rows(self.memory.y, order)
        return x.to(self.device), y.to(self.device), [size for size in count if size]


def multipliers(gram: Tensor, products: Tensor, margin: float = 0.0) -> Tensor:
    """How much of each earlier task's gradient g_i has to be added to the gradient g, [k].

    The vector z nearest to g with <g_i, z> >= 0 for all i is g + sum_i v_i g_i, where v minimises v'Gv / 2 + v'p over v >= 0:
    the dual. `gram` G [k, k] has the products <g_i, g_j>, `products` p [k] the <g_i, g>, both in double precision. With
    v >= margin, z is moved further to where earlier tasks gain. A gradient that breaks no constraint is left alone.
    """
    if (products >= 0).all():
        return torch.zeros_like(products)
    gram = (gram + gram.T) / 2
    # Strictly convex, as the solver wants it, though gradients may depend on each other.
    gram += (1e-9 * gram.diagonal().mean() + 1e-30) * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    size = len(products)
    least = np.full(size, margin)
    v = quadprog.solve_qp(gram.cpu().numpy(), -products.cpu().numpy(), np.eye(size), least)[0]
    return torch.from_numpy(v).to(products)

"""`gem`: no step that raises the loss of any earlier task's memory."""

import torch
from scipy.optimize import nnls
from torch import Tensor

from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.rivals.gem_settings import GEMSettings
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State, as_float, rows


class GEM(NetworkLearner[GEMSettings]):
    """Gradient episodic memory (Lopez-Paz and Ranzato 2017, "Gradient episodic memory for continual learning").

    The gradient is projected to the nearest vector that points against the gradient of no earlier task's exemplars: a
    quadratic program, solved exactly in its dual as non-negative least squares with a variable a task. Plain descent, its rate
    of 0.1 and the margin of 0.5 are theirs on MNIST. Deviations: the exemplars are a balanced reservoir of the stream rather
    than each task's last ones; one head whose unseen classes are masked, rather than one a task.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'gem', tasks=2, images_per_task=50).final_accuracy:.0f} %"
    '86 %'
    """

    def __init__(self, stream: StreamInfo, settings: GEMSettings, seed: int, device: str = "cpu") -> None:
        super().__init__(stream, settings, seed, device)
        self.memory = ExemplarMemory(
            settings.exemplars, settings.exemplar_choice, stream.input_shape, self.generator("exemplars"), self.device
        )

    def _observe(self, x: Tensor, y: Tensor) -> None:
        super()._observe(x, y)
        self.memory.offer(x, y, self.tasks[-1].index)

    def _update(self, x: Tensor, y: Tensor) -> None:
        old_x, old_y, sizes = self._memories()
        gradients = self.gradients_of(torch.cat([old_x, x]), torch.cat([old_y, y]), [*sizes, len(y)])  # [k + 1, P]
        self.training.update(projected(gradients[-1], gradients[:-1], self.settings.margin).unsqueeze(0))

    def _memories(self) -> tuple[Tensor, Tensor, list[int]]:
        """Exemplars of earlier tasks, inputs as floats and augmented, task after task, and how many each task has."""
        tasks = self.memory.tasks
        count = torch.bincount(tasks, minlength=self.tasks[-1].index)[: self.tasks[-1].index].tolist()
        order = tasks.argsort(stable=True)[: sum(count)]
        x, y = as_float(rows(self.memory.x, order)), rows(self.memory.y, order)
        return self.augmented(x.to(self.device)), y.to(self.device), [size for size in count if size]

    def _state(self) -> State:
        return {**super()._state(), "memory": self.memory.state()}

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.memory.restore(state["memory"])

    def stored_bytes(self) -> dict[str, int]:
        """The network, the optimiser and the exemplars."""
        return {**super().stored_bytes(), "exemplars": self.memory.stored_bytes}


def projected(gradient: Tensor, references: Tensor, margin: float = 0.0) -> Tensor:
    """The gradient g [P], kept from pointing against any earlier task's gradient g_i, the rows of `references` [k, P].

    The vector z nearest to g with <g_i, z> >= 0 for all i is g + sum_i v_i g_i with multipliers v_i >= 0. With v_i >= margin,
    z is moved further to where earlier tasks gain: it is the same projection of g + margin sum_i g_i. A gradient that
    breaks no constraint is left alone. Constraints are scaled to length one, in double precision, so gradients of any size
    are served alike.
    """
    vectors = torch.cat([references, gradient.unsqueeze(0)]).double()  # [k + 1, P]
    products = vectors @ vectors.T  # everything else is told by these, [k + 1, k + 1]
    lengths = products.diagonal()[:-1].sqrt()  # [k]
    if not lengths.all():  # a task without a gradient forbids nothing
        return projected(gradient, references[lengths > 0], margin)
    along = products[:-1, -1] / lengths
    if (along >= 0).all():
        return gradient
    gram = products[:-1, :-1] / lengths / lengths.unsqueeze(1)
    weights = margin + multipliers(gram, along + margin * (gram @ lengths)) / lengths
    return torch.addmv(vectors[-1], vectors[:-1].T, weights).to(gradient)


def multipliers(gram: Tensor, products: Tensor) -> Tensor:
    """How much of each constraint has to be added to a vector so that it meets them all, [k].

    The dual of the projection: v >= 0 that minimises v'Gv / 2 + v'p, with the constraints' products with each other G [k, k]
    (`gram`) and with the vector p [k] (`products`). With G = A'A and p = -A'b that is the least |Av - b|. G may be singular:
    constraints may depend on each other.
    """
    values, vectors = torch.linalg.eigh(gram)  # ascending
    kept = values > len(gram) * torch.finfo(gram.dtype).eps * values[-1]
    roots, vectors = values[kept].sqrt(), vectors[:, kept]
    b = -(vectors.T @ products) / roots
    size = b.norm()
    if size == 0:
        return torch.zeros_like(products)
    v, _ = nnls((vectors * roots).T.cpu().numpy(), (b / size).cpu().numpy())
    added: Tensor = torch.from_numpy(v).to(products) * size
    return added

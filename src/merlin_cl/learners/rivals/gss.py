"""`gss`: replay from a memory whose gradients are as diverse as can be."""

from functools import partial

import numpy as np
import torch
from scipy.optimize import nnls
from torch import Tensor

from merlin_cl.learners.network_learner import cross_entropy
from merlin_cl.learners.replay_learner import ReplayLearner
from merlin_cl.learners.rivals.gss_settings import GSSSettings
from merlin_cl.networks.per_example import ExampleGradients, example_gradients
from merlin_cl.tensors import as_float, rows


class GSS(ReplayLearner[GSSSettings]):
    """Gradient-based sample selection (Aljundi et al. 2019, "Gradient based sample selection for online continual learning").

    `greedy` (their GSS-Greedy): a newcomer's score is one more than the greatest cosine between its gradient and those of
    `compared` exemplars (10, as theirs); into a full memory it comes, if that is below one, in the place of an exemplar
    drawn by score, with a probability that favours the lower score. `integer` (GSS-IQP): whenever the memory is
    full, the subset with the least sum of cosines is kept and `recent` places are freed.

    Deviations: Adam rather than plain descent; gradients of single examples; one sample of exemplars to compare with a batch,
    not an example; the integer program is relaxed, rounded and improved by exchanges, so its answer is a local optimum.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'gss', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '90 %'
    """

    def _update(self, x: Tensor, y: Tensor) -> None:
        self.learn(*self.with_replay(x, y))

    def _remember(self, x: Tensor, y: Tensor) -> None:
        with self.phases.timed("select"):
            if self.settings.selection == "greedy":
                self._remember_greedily(x, y)
            else:
                self._remember_by_program(x, y)

    def _remember_greedily(self, x: Tensor, y: Tensor) -> None:
        memory, task = self.memory, self.tasks[-1].index
        scores = torch.ones(len(y), device=self.device)
        if len(memory):
            drawn = self.drawn(self.settings.compared)
            compared = self._gradients(as_float(rows(memory.x, drawn)), memory.y[drawn])
            scores += self._gradients(as_float(x), y).cosines(compared).amax(dim=1)  # [N], from 0 to 2
        for example, label, score in zip(x, y.tolist(), scores, strict=True):
            place: int | None = len(memory)
            if len(memory) == memory.budget:
                place = self._replaced(float(score)) if score < 1 else None
            if place is not None:
                memory.put(place, example, label, task, score.view(1))

    def _replaced(self, score: float) -> int | None:
        """The place of the exemplar that a newcomer replaces, if it does."""
        held = self.memory.notes[:, 0].cpu().clamp(min=1e-6)
        place = int(torch.multinomial(held, 1, generator=self.draws))
        other = float(held[place])
        return place if float(torch.rand((), generator=self.draws)) < other / (other + score) else None

    def _remember_by_program(self, x: Tensor, y: Tensor) -> None:
        memory = self.memory
        for example, label in zip(x, y.tolist(), strict=True):
            if len(memory) == memory.budget:
                gradients = self._gradients(as_float(memory.x), memory.y)
                memory.keep(most_diverse(gradients.cosines(gradients), memory.budget - self.settings.recent))
            memory.put(len(memory), example, label, self.tasks[-1].index)

    def _gradients(self, x: Tensor, y: Tensor) -> ExampleGradients:
        """Of each example's loss."""
        loss = partial(cross_entropy, allowed=self.competing)
        return example_gradients(self.network, self.bank.weights[0], x, y, loss)


def most_diverse(similarity: Tensor, count: int) -> list[int]:
    """The places, ascending, of `count` examples whose `similarity` [n, n] summed over all pairs is least.

    An integer program: minimise s'Gs over s in {0, 1}^n with sum(s) = count. Its relaxation to 0 <= s <= 1 is solved
    exactly, the largest entries are chosen, and pairs are exchanged while that helps.
    """
    gram = similarity.cpu().double().numpy()
    gram = (gram + gram.T) / 2
    relaxed = shares(gram, count)
    inside = np.zeros(len(gram), dtype=bool)
    inside[np.argsort(-relaxed, kind="stable")[:count]] = True
    while True:
        chosen, others = np.flatnonzero(inside), np.flatnonzero(~inside)
        if len(others) == 0:
            break
        to_chosen = gram[:, chosen].sum(axis=1)  # [n]
        own = np.diag(gram)
        # What replacing i by j changes: its pairs go, those of j come, and j is not paired with i.
        change = (own[chosen] - 2 * to_chosen[chosen])[:, None] + (own[others] + 2 * to_chosen[others])[None, :]
        change -= 2 * gram[np.ix_(chosen, others)]
        best = np.unravel_index(change.argmin(), change.shape)
        if change[best] >= -1e-9:
            break
        inside[chosen[best[0]]], inside[others[best[1]]] = False, True
    picked: list[int] = np.flatnonzero(inside).tolist()
    return picked


def shares(gram: np.ndarray, count: int) -> np.ndarray:
    """The s [n] with 0 <= s <= 1 and sum(s) = count that has the least s'Gs, for G [n, n] without negative eigenvalues.

    With G = F'F and x = Fs this is the shortest x that meets linear conditions Ex >= f, whose dual is a problem of non-negative
    least squares: the least |E'u| and |f'u - 1| over u >= 0 leave residuals r and t, and x = -r / t (Lawson and Hanson 1974,
    "Solving least squares problems", chapter 23).
    """
    size = len(gram)
    values, vectors = np.linalg.eigh(gram)
    back = vectors / np.sqrt(values.clip(min=0) + 1e-6)  # s = back @ x; strictly convex, though examples may be alike
    total = back.sum(axis=0)
    conditions = np.vstack([total, -total, back, -back])  # sum(s) = count, s >= 0, -s >= -1
    bounds = np.concatenate([[count, -count], np.zeros(size), -np.ones(size)])
    dual = np.column_stack([conditions, bounds]).T  # [n + 1, 2n + 2]
    aim = np.zeros(size + 1)
    aim[-1] = 1
    dual /= np.linalg.norm(dual, axis=0)
    u, _ = nnls(dual, aim, maxiter=100 * size)
    residual = dual @ u - aim
    solved: np.ndarray = back @ (-residual[:-1] / residual[-1])
    return solved

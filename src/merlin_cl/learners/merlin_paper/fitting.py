"""Algorithm 1, line 3: a VAE learns the weights of a task's base models and, with them, the task's prior (section 3.1)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from merlin_cl.learners.merlin_paper.distribution import WeightDistribution
from merlin_cl.learners.merlin_paper.vae import LEAST_VARIANCE, Gaussian, WeightVAE
from merlin_cl.learners.phases import Phases
from merlin_cl.tensors import State

if TYPE_CHECKING:
    from merlin_cl.learners.merlin_paper.compiled import Flat


class Fitting:
    """A VAE in the course of learning one task, with what its optimiser remembers, which is forgotten when the task is over.

    numba, which compiles the steps, takes a third of a second to import, so it is imported where something is learned.
    """

    def __init__(self, distribution: WeightDistribution, task: Tensor, generator: torch.Generator) -> None:
        """`task` is the task vector t, [T]. A copy of the distribution's VAE goes on learning, or a fresh one (`new_vae`)."""
        self._distribution, self._recipe = distribution, distribution.recipe
        self._task, self._generator = task, generator
        started = distribution.fresh_vae(generator) if self._recipe.new_vae else distribution.vae
        self.vae: WeightVAE = started.over(started.weights.clone())
        self._gradient, self._squares, self._deltas = (torch.zeros_like(self.vae.weights) for _ in range(3))

    @property
    def prior(self) -> Gaussian:
        """p(z | t) of the task, as far as it has been learned."""
        return self._distribution.prior(self.vae, self._task)

    def learn(self, chunks: Tensor, epochs: int, phases: Phases) -> None:
        """Maximise the lower bound for models, chunks [M, K, chunk], one chunk a step."""
        models, count, size = chunks.shape
        rows, total = chunks.reshape(-1, size), models * count
        for _ in phases.steps("vae", range(epochs), epochs):
            order = torch.randperm(total, generator=self._generator) if self._recipe.shuffled else torch.arange(total)
            phases.note_loss("negative_elbo", self._one_pass(rows[order], order % count))

    def _one_pass(self, chunks: Tensor, positions: Tensor) -> float:
        """One step on each chunk [N, chunk] in turn, at its position [N]; returns the mean of the losses met."""
        from merlin_cl.learners.merlin_paper.compiled import Parts, Rules, fit

        recipe, losses = self._recipe, torch.zeros(len(chunks))
        draw = torch.rand if recipe.uniform_noise else torch.randn
        noise = draw(len(chunks), self.vae.sizes.latent, generator=self._generator)
        given = (chunks, positions, noise, self.kept(len(chunks), 2), self._task, losses)
        rules = Rules(
            tanh=recipe.tanh,
            log_variance=recipe.log_variance,
            least_variance=LEAST_VARIANCE,
            learned_prior=self._distribution.learned_prior,
            error_weight=self.vae.error_weight,
            adadelta=recipe.optimiser == "adadelta",
            rate=recipe.rate,
        )
        weights, gradient = (
            Parts(**{name: view.numpy() for name, view in self.vae.views(flat).items()})
            for flat in (self.vae.weights, self._gradient)
        )
        fit(weights, gradient, self._flat(), rules, *(tensor.numpy() for tensor in given))
        return float(losses.mean())

    def kept(self, count: int, layers: int) -> Tensor:
        """What dropout multiplies hidden units by in so many steps, [count, layers, hidden]; [1, layers, hidden] without it."""
        hidden, dropout = self.vae.sizes.hidden, self._recipe.dropout
        if not dropout:
            return torch.ones(1, layers, hidden)
        return (torch.rand(count, layers, hidden, generator=self._generator) >= dropout).float() / (1 - dropout)

    def learn_to_classify(self, judge: Callable[[Tensor], tuple[float, Tensor]]) -> float:
        """One step on the auxiliary loss of the appendix, that of a classifier psi [1, P] generated for the task; returns it.

        `judge` gives the loss of such a classifier and its gradient by psi.
        """
        vae = self.differentiable()
        z = self._distribution.prior(vae, self._task).sample(self._generator, 1)
        psi = self._distribution.joined(vae.generate(z))
        loss, slope = judge(psi.detach().clone())
        (gradient,) = torch.autograd.grad(psi, vae.weights, slope)
        self.step(gradient)
        return loss

    def differentiable(self) -> WeightVAE:
        """The VAE over weights by which a loss can be differentiated."""
        return self.vae.over(self.vae.weights.clone().requires_grad_())

    def step(self, gradient: Tensor) -> None:
        """One step of the optimiser along a gradient [D]."""
        from merlin_cl.learners.merlin_paper.compiled import adadelta, adagrad

        self._gradient.copy_(gradient)
        move = adadelta if self._recipe.optimiser == "adadelta" else adagrad
        move(self._flat(), self._recipe.rate)

    def _flat(self) -> "Flat":
        from merlin_cl.learners.merlin_paper.compiled import Flat

        flat = (self.vae.weights, self._gradient, self._squares, self._deltas)
        return Flat(*(tensor.numpy() for tensor in flat))

    def state(self) -> State:
        """Weights, what the optimiser remembers, and random state."""
        return {
            "weights": self.vae.weights.clone(),
            "squares": self._squares.clone(),
            "deltas": self._deltas.clone(),
            "generator": self._generator.get_state(),
        }

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.vae.weights.copy_(state["weights"])
        self._squares.copy_(state["squares"])
        self._deltas.copy_(state["deltas"])
        self._generator.set_state(state["generator"])

"""p(psi | t): the VAE, the stored priors of all tasks learned so far, and the way between models and chunks."""

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.merlin_paper.recipes import Recipe
from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.merlin_paper.vae import Gaussian, Sizes, WeightVAE
from merlin_cl.networks.network import Network
from merlin_cl.tensors import State


class WeightDistribution:
    """All that is kept of what was learned, besides the exemplars."""

    def __init__(self, network: Network, settings: MerlinPaperSettings, tasks: int, generator: torch.Generator) -> None:
        self.recipe: Recipe = settings.recipe
        self.priors: list[Gaussian] = []  # P_1 .. P_k
        self._order = network.torch_order()  # psi is flattened as `state_dict()` has it
        self.learned_prior = settings.prior == "learned"
        chunks = -(-network.size // settings.chunk)
        self._sizes = Sizes(chunks, settings.chunk, settings.hidden, settings.latent, tasks)
        self.vae = self.fresh_vae(generator)

    def fresh_vae(self, generator: torch.Generator) -> WeightVAE:
        """A VAE that has learned nothing."""
        vae = WeightVAE(self._sizes, self.recipe)
        vae.draw(generator)
        return vae

    def cut(self, psi: Tensor) -> Tensor:
        """Models psi [M, P] as chunks [M, K, chunk]; the last one is padded with zeros."""
        flat = psi.cpu()[:, self._order]
        padding = self._sizes.chunks * self._sizes.chunk - flat.shape[1]
        return functional.pad(flat, (0, padding)).view(len(psi), self._sizes.chunks, self._sizes.chunk)

    def joined(self, chunks: Tensor) -> Tensor:
        """Models [M, P] from chunks [M, K, chunk]."""
        flat = chunks.flatten(1)[:, : len(self._order)]
        return torch.zeros_like(flat).index_copy(1, self._order, flat)

    def prior(self, vae: WeightVAE, task: Tensor) -> Gaussian:
        """p(z | t) as a VAE has it for a task vector; N(0, I) where priors are not learned (the paper's ablation)."""
        if self.learned_prior:
            return vae.prior(task)
        return Gaussian(torch.zeros(self._sizes.latent), torch.zeros(self._sizes.latent))

    def aggregate_prior(self) -> Gaussian:
        """The one prior of all tasks: the average of their parameters."""
        return Gaussian.average(self.priors, self.recipe.aggregate_variance)

    def decoded(self, z: Tensor) -> Tensor:
        """Models psi [M, P] from latents z [M, latent], one for a model."""
        return self.joined(self.vae.generate(z))

    def sample(self, prior: Gaussian, count: int, generator: torch.Generator) -> Tensor:
        """`count` models psi, [count, P]: z from the prior, weights from the decoder."""
        return self.decoded(prior.sample(generator, count))

    def stored_bytes(self) -> dict[str, int]:
        """The VAE and the tasks' priors, in 32 bits a number."""
        return {"meta_model": 4 * self.vae.parameters, "priors": 8 * self._sizes.latent * len(self.priors)}

    def state(self) -> State:
        """The VAE and the priors."""
        priors = {str(task): prior._asdict() for task, prior in enumerate(self.priors)}
        return {"vae": self.vae.weights.clone(), "priors": priors}

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.vae = self.vae.over(state["vae"].clone())
        self.priors = [Gaussian(**state["priors"][str(task)]) for task in range(len(state["priors"]))]

"""p(psi | t): the VAE, the prior of every task learned so far, and the way between models and chunks."""

import torch
from torch import Tensor

from merlin_cl.learners.learner import State
from merlin_cl.learners.merlin.chunks import ChunkCode
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin.vae import Gaussian, WeightVAE
from merlin_cl.networks.network import Network


class WeightDistribution:
    """All that MERLIN keeps of what it has learned, besides the exemplars."""

    def __init__(
        self,
        network: Network,
        origin: Tensor,
        settings: MerlinSettings,
        task_width: int,
        generator: torch.Generator,
    ) -> None:
        self.code = ChunkCode(network, settings.chunk, settings.layout, settings.statistics == "decoded", origin)
        self.vae = WeightVAE(
            chunks=self.code.count,
            size=settings.chunk,
            hidden=settings.hidden,
            latent=settings.latent,
            embedding=settings.embedding,
            task_width=task_width,
            per_model=settings.latent_per == "model",
        )
        self.vae.reset(generator)
        self.vae.to(origin.device)
        self.priors: list[Gaussian] = []  # P_1 .. P_k
        self._learned_prior = settings.prior == "learned"

    def prior(self, task: Tensor) -> Gaussian:
        """p(z | t) as it is now: still learning, or N(0, 1) where the prior is not learned."""
        if self._learned_prior:
            return self.vae.prior(task)
        zero = torch.zeros(self.vae.latent, device=task.device)
        return Gaussian(zero, zero)

    @torch.no_grad()
    def sample(self, prior: Gaussian, count: int, generator: torch.Generator) -> Tensor:
        """`count` models psi, [count, P]: z from the prior, weights from the decoder."""
        return self.code.join(self.vae.generate(prior.sample(generator, count)))

    def aggregate_prior(self) -> Gaussian:
        """The average of all tasks' priors."""
        return Gaussian.mean_of(self.priors)

    @property
    def parameters(self) -> int:
        """Size of the VAE, in numbers."""
        return sum(parameter.numel() for parameter in self.vae.parameters())

    def stored_bytes(self) -> dict[str, int]:
        """The VAE with the chunks' scales, and the tasks' priors."""
        meta_model = sum(t.numel() * t.element_size() for t in self.vae.state_dict().values())
        priors = sum(t.numel() * t.element_size() for prior in self.priors for t in prior)
        return {"meta_model": meta_model, "priors": priors}

    def state(self) -> State:
        """The VAE and the priors."""
        return {
            "vae": {name: value.clone() for name, value in self.vae.state_dict().items()},
            "priors": {str(task): prior._asdict() for task, prior in enumerate(self.priors)},
        }

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.vae.load_state_dict(state["vae"])
        self.priors = [Gaussian(**state["priors"][str(task)]) for task in range(len(state["priors"]))]

"""p(psi | t): the VAE, the prior of every task learned so far, and the way between models and chunks."""

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from merlin_cl.learners.learner import State
from merlin_cl.learners.merlin.chunks import ChunkCode, representatives
from merlin_cl.learners.merlin.decoders import ChunkDecoder, FactorDecoder, Form
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.merlin.storage import Packed, pack, stored_bytes, unpack
from merlin_cl.learners.merlin.vae import Gaussian, WeightVAE
from merlin_cl.networks.network import Network

SMALLEST_VARIANCE = 1e-6
"""Of a latent: a thousandth of a base more or less."""
LARGEST_RANK = 48
"""More adds bytes and, on the streams of the paper, nothing to accuracy."""
LEAST_RANK = 24
"""Where the bytes allow fewer directions, all entries in few values say more, if the bytes allow these: narrow convolutions
change along many directions."""


class WeightDistribution:
    """All that MERLIN keeps of what it has learned, besides the exemplars."""

    def __init__(
        self,
        network: Network,
        origin: Tensor,
        settings: MerlinSettings,
        task_width: int,
        generator: torch.Generator,
        tasks: int = 0,
        form: Form | None = None,
    ) -> None:
        """`tasks` is the number of tasks to expect; 0: as many as a task vector is wide, which one-hot vectors are. `form` is
        how bases hold weights, where that is settled (factors)."""
        self.network = network
        self.priors: list[Gaussian] = []  # P_1 .. P_k
        self.code = ChunkCode(network, settings.chunk, settings.layout, settings.statistics == "decoded", origin)
        self._precision, self._summary = settings.precision, settings.summary
        if settings.decoder == "factors":
            self.vae = self._vae_of_factors(network, settings, task_width, tasks or task_width, form)
        else:
            per_model, size, hidden, latent = (
                settings.latent_per == "model",
                settings.chunk,
                settings.hidden,
                settings.latent,
            )
            decoder = ChunkDecoder(self.code.count, size, hidden, latent, settings.embedding, per_model)
            self.vae = WeightVAE(decoder, size, hidden, latent, task_width, per_model)
        self.vae.reset(generator)
        if settings.decoder == "factors":  # tasks begin with nothing of each other's bases, and sure of their own
            certain = math.log(SMALLEST_VARIANCE)
            for layer, value in ((self.vae.prior_mean, 0.0), (self.vae.prior_log_variance, certain)):
                nn.init.zeros_(layer.weight)
                nn.init.constant_(layer.bias, value)
            nn.init.constant_(self.vae.posterior_log_variance.bias, certain)
        self.vae.to(origin.device)
        self._chained = settings.start == "consolidated"
        self._learned_prior = settings.prior == "learned"
        self.settle()

    def _vae_of_factors(
        self, network: Network, settings: MerlinSettings, task_width: int, tasks: int, form: Form | None
    ) -> WeightVAE:
        """A VAE of the form given, else of the first of `_forms` that takes no more bytes than one classifier, and the last of
        them where the classifier is so small that none does: the encoder alone takes more."""
        latent = settings.latent or tasks
        for choice in [form] if form else self._forms(network, settings):
            decoder = FactorDecoder(network, self.code.count, settings.chunk, bases=latent, form=choice)
            self.vae = WeightVAE(decoder, settings.chunk, settings.hidden, latent, task_width, per_model=True)
            descriptor = 0 if settings.descriptor == "one-hot" and task_width == tasks else 4 * task_width
            each = (
                8 * latent + 4 + descriptor
            )  # a task's prior, the share of earlier tasks in its lessons, what it is called
            if self.stored_bytes()["meta_model"] + each * tasks <= 4 * network.size:
                break
        return self.vae

    def _forms(self, network: Network, settings: MerlinSettings) -> Iterator[Form]:
        """Ways for bases to hold weights, the best first: of the rank asked for, or of any."""
        if settings.rank:
            yield Form.of_rank(network, settings.rank)
            return
        yield from (Form.of_rank(network, rank) for rank in range(LARGEST_RANK, LEAST_RANK - 1, -1))
        if settings.precision == "int4":
            yield from Form.of_entries(network)
        yield from (Form.of_rank(network, rank) for rank in range(LEAST_RANK - 1, 0, -1))
        yield Form.of_rank(network, LARGEST_RANK)

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

    @torch.no_grad()
    def make_room(self, base_models: Tensor, task: Tensor) -> bool:
        """Let a new task start from its base models, chunks [B, K, size], where the decoder is a sum of bases.

        A base that no task uses yet becomes what stands for them: all of it, as keeping only what related descriptors do not say
        came out worse (relative error 0.19 against 0.15 on the fifth task of Split MNIST). The prior is then that of these
        models' own mixtures of bases, so there is nothing better for prior and decoder to learn, and the answer is True.
        With no base left, tasks have to share those there are.
        """
        decoder, base = self.vae.decoder, len(self.priors)
        if not isinstance(decoder, FactorDecoder) or not self._learned_prior:
            return False
        models = representatives(base_models.flatten(1)[:, : decoder.numbers], self._summary)
        if base < self.vae.latent:
            known = decoder.offsets(self.priors[-1].mean.unsqueeze(0))[0] if self._chained and self.priors else 0
            decoder.absorb(base, models.mean(dim=0) - known)
        used = min(base + 1, self.vae.latent)
        bases = decoder.offsets(torch.eye(used, self.vae.latent, device=task.device))  # [J, numbers]
        mixtures = torch.zeros(len(models), self.vae.latent, device=task.device)
        # In single precision the answer's last bits depend on where in memory the numbers lie.
        mixtures[:, :used] = torch.linalg.lstsq(bases.t().double(), models.t().double()).solution.t().float()
        variance = mixtures.var(dim=0, correction=0).clamp(min=SMALLEST_VARIANCE)
        for layer, wanted in (
            (self.vae.prior_mean, mixtures.mean(dim=0)),
            (self.vae.prior_log_variance, variance.log()),
        ):
            # The smallest change of the linear map that gives this task what is wanted.
            layer.weight += torch.outer(wanted - layer(task), task) / task.square().sum()
        return base < self.vae.latent

    def aggregate_prior(self) -> Gaussian:
        """The average of all tasks' priors."""
        return Gaussian.mean_of(self.priors)

    @property
    def parameters(self) -> int:
        """Size of the VAE, in numbers."""
        return sum(parameter.numel() for parameter in self.vae.parameters())

    def settle(self) -> None:
        """Round what was learned to what is stored, so that a learner answers the same before and after it is saved."""
        self.vae.load_state_dict({name: unpack(packed) for name, packed in self._packed().items()})

    @property
    def form(self) -> Form | None:
        """How bases hold weights (factors)."""
        return self.vae.decoder.form if isinstance(self.vae.decoder, FactorDecoder) else None

    def stored_bytes(self) -> dict[str, int]:
        """The VAE with the chunks' scales, and the tasks' priors."""
        priors = sum(t.numel() * t.element_size() for prior in self.priors for t in prior)
        return {"meta_model": sum(map(stored_bytes, self._packed().values())), "priors": priors}

    def state(self) -> State:
        """The VAE in its stored form, and the priors."""
        return {
            "vae": self._packed(),
            "priors": {str(task): prior._asdict() for task, prior in enumerate(self.priors)},
        }

    @staticmethod
    def form_of(state: State, network: Network) -> Form:
        """How bases hold weights in what `state()` gave (factors)."""
        decoder = {name.removeprefix("decoder."): packed for name, packed in state["vae"].items()}
        return Form.stored(network, decoder)

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.vae.load_state_dict({name: unpack(packed) for name, packed in state["vae"].items()})
        self.priors = [Gaussian(**state["priors"][str(task)]) for task in range(len(state["priors"]))]

    def widened(self, state: State, narrow: "WeightDistribution", outputs: Sequence[int]) -> State:
        """The state of a narrower distribution, for this one, which is new and of the same form, to restore.

        Bases that are new are zero, and so is what bases hold of outputs that are new: models of old tasks stay what they are,
        with psi_0's outputs for new classes. `outputs` says where the narrower network's are.
        """
        head = [f"decoder.{kind}.{name.replace('.', '_')}" for kind in ("right", "whole") for name in self.network.head]
        wide = {name: value.clone() for name, value in self.vae.state_dict().items()}
        for name, packed in state["vae"].items():
            old, new = unpack(packed), wide[name]
            if name in head:  # [bases, ..., outputs], however the rest is laid out
                by_output = new.view(len(new), -1, self.network.classes)
                by_output[: len(old), :, list(outputs)] = old.view(len(old), -1, narrow.network.classes)
            else:
                new[tuple(slice(size) for size in old.shape)] = old
        unused = Gaussian(torch.zeros(self.vae.latent), torch.full((self.vae.latent,), math.log(SMALLEST_VARIANCE)))
        priors = {}
        for task, prior in state["priors"].items():
            longer = Gaussian(*(value.to(prior["mean"], copy=True) for value in unused))
            for value, old in zip(longer, (prior["mean"], prior["log_variance"]), strict=True):
                value[: len(old)] = old
            priors[task] = longer._asdict()
        return {"vae": self._packed(wide), "priors": priors}

    def _packed(self, tensors: dict[str, Tensor] | None = None) -> dict[str, Packed]:
        """The VAE, or tensors in its place, as stored."""
        tensors = self.vae.state_dict() if tensors is None else tensors
        decoder = self.vae.decoder
        shared = decoder.a_byte if isinstance(decoder, FactorDecoder) else {}
        return {
            name: pack(value, self._precision, shared.get(name.removeprefix("decoder."), 1))
            for name, value in tensors.items()
        }

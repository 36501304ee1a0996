"""A generator of inputs: one variational autoencoder, its optimiser and its noise."""

import math

import torch
from torch import Tensor

from merlin_cl.errors import InputError
from merlin_cl.learners.rivals.input_generator_settings import GeneratorSettings
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.vae import VAE
from merlin_cl.protocol import StreamInfo
from merlin_cl.tensors import State, as_float


class InputGenerator:
    """Learns what inputs look like, makes some, and says how likely given ones are."""

    def __init__(
        self, stream: StreamInfo, settings: GeneratorSettings, draws: torch.Generator, device: torch.device
    ) -> None:
        self._shape = stream.input_shape
        self._draws = draws
        self.vae = VAE(
            math.prod(stream.input_shape),
            settings.latent,
            settings.generator_hidden,
            settings.likelihood,
            settings.noise,
        )
        self.bank = Bank(self.vae, self.vae.initial(1, draws).to(device))
        self._training = Training(self.bank, settings.generator_rate)

    def learn(self, x: Tensor, shares: Tensor | None = None) -> None:
        """One step on inputs x [N, *input_shape], as floats, each with its share [N] in the loss (1 without)."""
        data = x.flatten(1)
        shares = torch.ones(len(x), device=x.device) if shares is None else shares
        noise = self._noise(len(x))
        self._training.gradient(
            torch.cat([data, noise], dim=1).unsqueeze(0),
            lambda outputs: -(shares * self.vae.bounds(outputs[0], data)).sum() / shares.sum(),
        )
        self._training.update()

    def sample(self, count: int) -> Tensor:
        """Made inputs, [count, *input_shape]."""
        return self.vae.generate(self.bank.weights, self._noise(count).unsqueeze(0))[0].view(count, *self._shape)

    @torch.inference_mode()
    def log_likelihood(self, x: Tensor) -> Tensor:
        """How likely inputs are, [N]: the lower bound, with the latent at its mean."""
        data = x.flatten(1)
        still = torch.cat([data, data.new_zeros(len(x), self.vae.latent)], dim=1)
        return self.vae.bounds(self.vae.apply(self.bank.weights, still.unsqueeze(0))[0], data)

    def _noise(self, count: int) -> Tensor:
        return torch.randn(count, self.vae.latent, generator=self._draws).to(self.bank.weights.device)

    @property
    def stored_bytes(self) -> int:
        """The weights; Adam's moments are as much again, twice."""
        return 4 * self.vae.size

    def state(self) -> State:
        """Everything, random state included."""
        return {
            "weights": self.bank.weights.clone(),
            "training": self._training.state(),
            "draws": self._draws.get_state(),
        }

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.bank.weights.copy_(state["weights"])
        self._training.restore(state["training"])
        self._draws.set_state(state["draws"])


def checked(x: Tensor, settings: GeneratorSettings) -> Tensor:
    """Inputs as floats, or an error if they are not what the generator takes them for."""
    x = as_float(x)
    if settings.likelihood == "bernoulli" and (x.min() < 0 or x.max() > 1):
        raise InputError(
            f"Inputs range from {float(x.min()):.3g} to {float(x.max()):.3g}; likelihood bernoulli needs numbers from 0 to 1, "
            "likelihood gaussian takes any."
        )
    return x

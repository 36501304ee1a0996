"""Learning in the latent space of a sketch: the members of a bank move as S lets them, and Adam runs on z."""

import torch
from torch import Tensor

from merlin_cl.networks.bank import Bank, Gradients
from merlin_cl.networks.optimisers import Adam
from merlin_cl.networks.sketch import Sketch


class LatentTraining:
    """M members psi = psi_0 + S z, trained by their z. The gradient by psi is never stepped along: S' of it is."""

    def __init__(self, sketch: Sketch, starts: Tensor, z: Tensor, learning_rate: float) -> None:
        """`starts` is psi_0, [M, P]; z, [M, size], is where learning begins."""
        self.z = z.clone()
        self._sketch, self._learned = sketch, sketch.network.learned
        self._starts = starts
        self._bank = Bank(sketch.network, sketch.weights(self.z, starts))
        self._gradients = Gradients(self._bank)
        self._optimiser = Adam(self.z, learning_rate, weight_decay=0.0, decoupled=True)

    def step(self, x: Tensor, y: Tensor, allowed: Tensor, noise: Tensor | None = None) -> Tensor:
        """One update of every member by cross-entropy with labels; returns the members' losses, [M].

        x [M, N, *input_shape] and y [M, N]; only `allowed` classes, bool [classes], compete. With `noise`, [M, size], members
        meet the examples as z + noise: drawn anew for every update, it has z learn the mean of a distribution, by the gradient of
        the data's expected likelihood.
        """
        z = self.z if noise is None else self.z + noise
        with torch.no_grad():  # statistics stay as they are
            here = self._bank.weights[:, : self._learned]
            torch.add(self._starts[:, : self._learned], self._sketch.offsets(z), out=here)
        losses = self._gradients.label_gradient(x, y, allowed)
        self._optimiser.step(self.z, self._sketch.gradient(self._gradients.flat))
        return losses

    @property
    def statistics(self) -> Tensor:
        """What normalisations have gathered, [M, P - learned]; a view."""
        return self._bank.weights[:, self._learned :]

    def state(self) -> dict[str, Tensor]:
        """Where z is, Adam's step count and moments, and what normalisations have gathered."""
        moments = {name: value.clone() for name, value in self._optimiser.state.items()}
        return {"z": self.z.clone(), "statistics": self.statistics.clone(), **moments}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Take over what `state()` gave."""
        for name, value in self._optimiser.state.items():
            value.copy_(state[name])
        self.z.copy_(state["z"])
        self.statistics.copy_(state["statistics"])

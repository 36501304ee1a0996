"""B base models learn a task online (Algorithm 1, lines 2 to 4), each as a point z of the latent space of its own start."""

from typing import NamedTuple

import torch
from torch import Tensor

from merlin_cl.learners.augmentation import augmented
from merlin_cl.learners.merlin.distribution import Decoder, Latents, TaskPrior
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.networks.latent_training import LatentTraining
from merlin_cl.networks.sketch import Sketch
from merlin_cl.tensors import State, as_float, rows

LONGEST_MEMORY = 0.97
"""What the running mean of z keeps of itself from batch to batch, at the most: about the last 33 batches."""


class ExampleBatch(NamedTuple):
    """Inputs [N, *input_shape] and labels, int64 [N]."""

    x: Tensor
    y: Tensor


class BaseModels:
    """The base models of the current task. Their starts differ, and so do they.

    A model that has just fitted the last few batches of a single pass is a poor one; the running mean of its z along the way is
    far better, and costs no example and no update more. How far z strays from that mean on the way is the spread of the prior.
    """

    def __init__(
        self,
        decoder: Decoder,
        form: Sketch,
        begin: Latents,
        allowed: Tensor,
        settings: MerlinSettings,
        generator: torch.Generator,
    ) -> None:
        """`form` is the decoder's sketch or its short form; z is learned in it. It begins near `begin`, which is as long as the
        decoder's."""
        self._whole, self._decoder = decoder, decoder.by(form)
        begin_z = decoder.sketch.shortened(begin.z) if self.short else begin.z
        self._training = LatentTraining(form, decoder.starts[begin.starts], begin_z, settings.learning_rate)
        self._starts = begin.starts
        self.mean = begin_z.clone()  # running mean of z, [B, size]
        self._square = torch.zeros_like(self.mean)  # of how far it was from there, squared
        self._statistics = self._training.statistics.clone()  # the same running mean, of normalisations' statistics
        self._batches = 0
        self._old = self._all = 0.0  # examples of earlier tasks, and all, that took part in updates of a model
        self._allowed = allowed
        self._settings = settings
        self._generator = generator

    @property
    def short(self) -> bool:
        """Whether z is learned in the short form."""
        return self._decoder is not self._whole

    @property
    def psi(self) -> Tensor:
        """Psi, [B, P]: the models that were learned."""
        psi = self._decoder(Latents(self.mean, self._starts))
        psi[:, self._decoder.sketch.network.learned :] = self._statistics
        return psi

    @property
    def prior(self) -> TaskPrior:
        """p(z | t), as the base models' way through the task tells it (line 5)."""
        return TaskPrior.fitted(self.mean, self._square.sqrt(), self._whole.sketch, short=self.short)

    @property
    def old_share(self) -> float:
        """The share of earlier tasks' examples in what the models learned from."""
        return self._old / max(1.0, self._all)

    def admit(self, allowed: Tensor) -> None:
        """From now on choose among other outputs, bool [outputs]."""
        self._allowed = allowed

    def learn(self, x: Tensor, y: Tensor, old: ExampleBatch, own: ExampleBatch) -> None:
        """Update every model on an arriving batch x, y, and on exemplars of earlier tasks and of its own, drawn for each."""
        members, inputs = len(self.mean), as_float(x)
        arriving = ExampleBatch(inputs.expand(members, *inputs.shape), y.expand(members, -1))
        old, own = (ExampleBatch(as_float(examples.x), examples.y) for examples in (old, own))
        wide = self._noise_widths()
        for _ in range(self._settings.updates_per_batch):
            replayed, rehearsed = self._drawn(old, self._settings.replay), self._drawn(own, self._settings.rehearse)
            taken = ExampleBatch(
                *(torch.cat(parts, dim=1) for parts in zip(arriving, replayed, rehearsed, strict=True))
            )
            pictures = augmented(taken.x, self._settings.augmentation, self._generator)
            self._training.step(pictures, taken.y, self._allowed, self._noise(wide))
            self._old += replayed.y.shape[1]
            self._all += taken.y.shape[1]
        self._batches += 1
        # At first the mean of all batches so far, then a running one.
        kept = min(LONGEST_MEMORY, self._batches / (self._batches + 9))
        self.mean.lerp_(self._training.z, 1 - kept)
        self._square.lerp_((self._training.z - self.mean).square_(), 1 - kept)
        self._statistics.lerp_(self._training.statistics, 1 - kept)

    def _noise_widths(self) -> Tensor | None:
        """How far each number of z is varied, [B, size]: in every part in proportion to how large its numbers have become."""
        if not self._settings.noise:
            return None
        part = self._decoder.sketch.part
        squares = torch.zeros(len(self.mean), len(self._decoder.sketch.groups), device=self.mean.device)
        sizes = (squares.index_add_(1, part, self.mean.square()) / part.bincount()).sqrt()  # root mean squares
        return self._settings.noise * sizes[:, part]

    def _noise(self, wide: Tensor | None) -> Tensor | None:
        """What z is varied by in an update, [B, size]."""
        if wide is None:
            return None
        # Number by number, so that a head that has grown since draws the same for all that was there.
        return torch.randn(self.mean.shape[::-1], generator=self._generator).t().to(self.mean.device).mul(wide)

    def _drawn(self, examples: ExampleBatch, count: int) -> ExampleBatch:
        """Some of the examples for each model, [B, count, ...]."""
        x, y = examples
        count = count if len(y) else 0
        if count == 0:
            return ExampleBatch(x.new_zeros(len(self.mean), 0, *x.shape[1:]), y.new_zeros(len(self.mean), 0))
        chosen = torch.randint(len(y), (len(self.mean), count), generator=self._generator).to(x.device)
        return ExampleBatch(rows(x, chosen), y[chosen])

    def state(self) -> State:
        """Latents, moments and random state."""
        return {
            "starts": self._starts.tolist(),
            "short": self.short,
            "mean": self.mean.clone(),
            "square": self._square.clone(),
            "statistics": self._statistics.clone(),
            "batches": self._batches,
            "old": self._old,
            "all": self._all,
            "training": self._training.state(),
            "generator": self._generator.get_state(),
        }

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.mean.copy_(state["mean"])
        self._square.copy_(state["square"])
        self._statistics.copy_(state["statistics"])
        self._batches, self._old, self._all = state["batches"], state["old"], state["all"]
        self._training.restore(state["training"])
        self._generator.set_state(state["generator"])

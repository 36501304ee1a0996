"""p(psi | t): the decoder p(psi | z), which a seed regenerates, and the prior p(z | t) of every task, which is what is stored.

A task's prior is a mixture of equally likely components. Component b lives in the latent space of a start psi_0^(b) of its own:
a normal distribution of z around the point that a base model came to, as wide as its way through the last batches was.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from merlin_cl.learners.merlin.storage import LARGEST, PER_BYTE, SMALLEST, Quantised, quantised
from merlin_cl.networks.sketch import Sketch
from merlin_cl.tensors import State

FINE, COARSE = 16, 6
"""Values of a number of z: while there is room, and while a prior still has several components."""


Groups = list[tuple[int, int]]
"""Where the parts of z begin and end."""


class Latents(NamedTuple):
    """Points of the latent space: z [M, size], and which start each belongs to, int64 [M]."""

    z: Tensor
    starts: Tensor


class Decoder:
    """p(psi | z), a point: psi = psi_0^(b) + S z. Sketch and starts come from a seed and cost no bytes."""

    def __init__(self, sketch: Sketch, starts: Tensor) -> None:
        """`starts` is psi_0 for every component there may be, [B, P]."""
        self.sketch = sketch
        self.starts = starts

    def __deepcopy__(self, memo: object) -> "Decoder":
        """Itself: it never changes, so that copies of a learner share it."""
        return self

    def __call__(self, latents: Latents) -> Tensor:
        """Psi, [M, P]."""
        return self.sketch.weights(latents.z, self.starts[latents.starts])


class Prior(ABC):
    """p(z | t) of one task, as it is stored. `groups` says where the parts of z begin and end."""

    @property
    @abstractmethod
    def components(self) -> int:
        """How many points of the latent space it is built around; component b belongs to start b."""

    @property
    @abstractmethod
    def bytes(self) -> int:
        """What is stored of it."""

    @abstractmethod
    def mean(self, groups: Groups) -> Latents:
        """These points."""

    @abstractmethod
    def sample(self, groups: Groups, count: int, generator: torch.Generator) -> Latents:
        """So many points drawn from it."""

    @abstractmethod
    def smaller(self, groups: Groups) -> "Prior | None":
        """The next smaller prior, made by plain cutting; None where it cannot be smaller."""

    @abstractmethod
    def grown(self, outputs: Sequence[int], wide: Sketch) -> "Prior":
        """The same in the latent space of a network with more outputs, where the old ones are at `outputs`, ascending."""

    @abstractmethod
    def state(self) -> State:
        """Tensors and plain values."""


@dataclass(frozen=True)
class TaskPrior(Prior):
    """A mixture: components b with means mu_b and a standard deviation for every part of z."""

    means: Quantised
    spreads: Tensor
    """Standard deviations, float16 [C, kept parts], in units of the means' quantisation."""

    @classmethod
    def fitted(cls, z: Tensor, deviations: Tensor, groups: Groups, levels: int = FINE) -> "TaskPrior":
        """The prior with means z [C, size] whose numbers vary by `deviations`, [C, size]."""
        means = quantised(z, groups, levels)
        parts = [group for group, kept in zip(groups, means.kept, strict=True) if kept]
        squares = deviations.square()
        wide = [squares[:, start:stop].mean(dim=1) for start, stop in parts]
        spreads = torch.stack(wide, dim=1).sqrt_() if wide else deviations.new_zeros(len(z), 0)
        return cls(means, (spreads / means.units.float()).clamp(max=6e4).half())

    @property
    def components(self) -> int:
        """How many there are."""
        return len(self.means.digits)

    @property
    def bytes(self) -> int:
        """What is stored of it."""
        return self.means.bytes + 2 * self.spreads.numel()

    def mean(self, groups: Groups) -> Latents:
        """The components' means; component b is the one of start b."""
        z = self.means.points(groups)
        return Latents(z, torch.arange(len(z), device=z.device))

    def sample(self, groups: Groups, count: int, generator: torch.Generator) -> Latents:
        """Draw components, each as often as any other so far as `count` allows, and then z from each."""
        means, (numbers, part) = self.mean(groups), self.means.places(groups)
        chosen = torch.arange(count, device=means.z.device) % self.components
        # Number by number, so that a head that has grown since draws the same for all that was there.
        noise = torch.randn(len(numbers), count, generator=generator).t().to(means.z.device)
        z = means.z[chosen]
        z[:, numbers] += (self.spreads.float() * self.means.units.float())[chosen][:, part] * noise
        return Latents(z, means.starts[chosen])

    def _deviations(self, groups: Groups) -> Tensor:
        """The standard deviation of every number of z, [C, size]."""
        numbers, part = self.means.places(groups)
        deviations = torch.zeros(self.components, groups[-1][1], device=self.spreads.device)
        deviations[:, numbers] = (self.spreads.float() * self.means.units.float())[:, part]
        return deviations

    def smaller(self, groups: Groups) -> "TaskPrior | None":
        """With fewer values a number; where they are few already, without its last component; with fewer again."""
        if self.means.levels <= COARSE and self.components > 1:
            return TaskPrior(self.means.first(self.components - 1), self.spreads[:-1].clone())
        coarser = [levels for levels in PER_BYTE if levels < self.means.levels]
        if not coarser:
            return None
        return TaskPrior.fitted(self.mean(groups).z, self._deviations(groups), groups, coarser[0])

    def scaled(self, factors: Tensor) -> "TaskPrior":
        """The same with all units of a component, and so its spread, times a factor, [C, 1]."""
        units = (self.means.units.float() * factors).clamp(SMALLEST, LARGEST).half()
        return replace(self, means=self.means._replace(units=units))

    def state(self) -> State:
        """Tensors and plain values."""
        return {"means": self.means.state(), "spreads": self.spreads.clone()}

    @classmethod
    def restored(cls, state: State) -> "TaskPrior":
        """What `state()` was taken of."""
        return cls(Quantised.restored(state["means"]), state["spreads"].clone())

    def grown(self, outputs: Sequence[int], wide: Sketch) -> "TaskPrior":
        """Parts keep their order, so that nothing that is stored changes but which parts there are."""
        body = len(self.means.kept) - len(outputs)
        kept = [*self.means.kept[:body], *[False] * (len(wide.groups) - body)]
        for output, was_kept in zip(outputs, self.means.kept[body:], strict=True):
            kept[body + output] = was_kept
        return replace(self, means=self.means._replace(kept=tuple(kept)))


class WeightDistribution:
    """All that MERLIN keeps of what it has learned, besides the exemplars, in a fixed number of bytes.

    Tasks have what room there is. When a new one needs some, the largest of the others become smaller (`consolidation.py`). A
    task whose prior has gone altogether is answered for by the next one that has a prior, whose models met it in replay.
    """

    def __init__(self, decoder: Decoder, memory: int, restored: Callable[[State], Prior] = TaskPrior.restored) -> None:
        """`restored` makes a prior from its state."""
        self.decoder = decoder
        self.memory = memory
        self.priors: list[Prior | None] = []
        self._restored = restored

    @property
    def groups(self) -> Groups:
        """Where the parts of z begin and end."""
        return self.decoder.sketch.groups

    def prior(self, task: int) -> Prior:
        """p(z | t) of a task."""
        return next(prior for prior in self.priors[task:] if prior is not None)

    def sample(self, task: int, count: int, generator: torch.Generator) -> Tensor:
        """Psi, [count, P], drawn from p(psi | t)."""
        return self.decoder(self.prior(task).sample(self.groups, count, generator))

    def mean(self, task: int) -> Tensor:
        """The components' mean models, [C, P]."""
        return self.decoder(self.prior(task).mean(self.groups))

    def aggregate(self, count: int, generator: torch.Generator, weights: Tensor | None = None) -> Tensor:
        """Psi, [count, P], drawn from the mixture of all tasks' priors: component by component, the mean of the tasks' z.

        `weights` [T] says how much each task counts; all alike without it.
        """
        known = [(task, prior) for task, prior in enumerate(self.priors) if prior is not None]
        share = torch.full((len(self.priors),), 1 / len(known)) if weights is None else weights
        components = max(prior.components for _, prior in known)
        z = self.decoder.starts.new_zeros(components, self.decoder.sketch.size)
        for b in range(components):
            holding = [(float(share[task]), prior) for task, prior in known if prior.components > b]
            total = sum(part for part, _ in holding) if weights is None else 1.0
            for part, prior in holding:
                drawn = prior.sample(self.groups, prior.components, generator).z[b]
                z[b] += part / (total or 1.0) * drawn
        chosen = torch.arange(count, device=z.device) % components
        return self.decoder(Latents(z[chosen], chosen))

    @property
    def bytes(self) -> int:
        """What all priors take."""
        return sum(prior.bytes for prior in self.priors if prior is not None)

    def components_for(self, tasks: int, most: int) -> int:
        """How many components, 1 to `most`, a task can have when so many tasks share the memory."""
        each = self.decoder.sketch.size / PER_BYTE[COARSE] + 4 * len(self.groups)
        return max(1, min(most, -(-int(self.memory / each) // tasks)))

    def state(self) -> State:
        """What is stored of every task, and where the parts of z begin and end, for those who read it without a decoder."""
        priors = [None if prior is None else prior.state() for prior in self.priors]
        return {"priors": priors, "groups": [list(group) for group in self.groups]}

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.priors = [None if prior is None else self._restored(prior) for prior in state["priors"]]

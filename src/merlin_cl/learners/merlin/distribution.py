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
"""Values of a number of z: while there is room, and while a prior of an MLP still has several components."""


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

    def by(self, sketch: Sketch) -> "Decoder":
        """The same starts with another sketch, the short form of this one, say."""
        return self if sketch is self.sketch else Decoder(sketch, self.starts)


class Prior(ABC):
    """p(z | t) of one task, as it is stored. `sketch` is the decoder's: whatever is stored, z comes out as long as there."""

    @property
    @abstractmethod
    def components(self) -> int:
        """How many points of the latent space it is built around; component b belongs to start b."""

    @property
    @abstractmethod
    def bytes(self) -> int:
        """What is stored of it."""

    def extent(self, sketch: Sketch) -> tuple[int, int]:
        """How large it is when priors are compared to see which has to give way: by bytes, but where components go before
        values by how many it has first, as a second component of a long z is worth more than a third of a short one."""
        return self.components if _few(sketch) == FINE else 0, self.bytes

    @abstractmethod
    def mean(self, sketch: Sketch) -> Latents:
        """These points."""

    @abstractmethod
    def sample(self, sketch: Sketch, count: int, generator: torch.Generator) -> Latents:
        """So many points drawn from it."""

    @abstractmethod
    def smaller(self, sketch: Sketch) -> "Prior | None":
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
    short: bool = False
    """Whether what is stored is z in the sketch's short form."""

    @classmethod
    def fitted(
        cls, z: Tensor, deviations: Tensor, sketch: Sketch, levels: int = FINE, short: bool = False
    ) -> "TaskPrior":
        """The prior with means z [C, size] whose numbers vary by `deviations`, [C, size]; `short`: both in the short form."""
        groups = _form(sketch, short).groups
        means = quantised(z, groups, levels)
        parts = [group for group, kept in zip(groups, means.kept, strict=True) if kept]
        squares = deviations.square()
        wide = [squares[:, start:stop].mean(dim=1) for start, stop in parts]
        spreads = torch.stack(wide, dim=1).sqrt_() if wide else deviations.new_zeros(len(z), 0)
        return cls(means, (spreads / means.units.float()).clamp(max=6e4).half(), short)

    @property
    def components(self) -> int:
        """How many there are."""
        return len(self.means.digits)

    @property
    def bytes(self) -> int:
        """What is stored of it."""
        return self.means.bytes + 2 * self.spreads.numel()

    def mean(self, sketch: Sketch) -> Latents:
        """The components' means; component b is the one of start b."""
        z = self._stored(sketch)
        return self._latents(z, torch.arange(len(z), device=z.device), sketch)

    def sample(self, sketch: Sketch, count: int, generator: torch.Generator) -> Latents:
        """Draw components, each as often as any other so far as `count` allows, and then z from each."""
        stored, (numbers, part) = self._stored(sketch), self.means.places(_form(sketch, self.short).groups)
        chosen = torch.arange(count, device=stored.device) % self.components
        # Number by number, so that a head that has grown since draws the same for all that was there.
        noise = torch.randn(len(numbers), count, generator=generator).t().to(stored.device)
        z = stored[chosen]
        z[:, numbers] += (self.spreads.float() * self.means.units.float())[chosen][:, part] * noise
        return self._latents(z, chosen, sketch)

    def _stored(self, sketch: Sketch) -> Tensor:
        """The components' means in the form in which they are stored."""
        return self.means.points(_form(sketch, self.short).groups)

    def _latents(self, z: Tensor, starts: Tensor, sketch: Sketch) -> Latents:
        return Latents(sketch.lengthened(z) if self.short else z, starts)

    def _deviations(self, sketch: Sketch) -> Tensor:
        """The standard deviation of every number of z, [C, size], in the form in which it is stored."""
        groups = _form(sketch, self.short).groups
        numbers, part = self.means.places(groups)
        deviations = torch.zeros(self.components, groups[-1][1], device=self.spreads.device)
        deviations[:, numbers] = (self.spreads.float() * self.means.units.float())[:, part]
        return deviations

    def smaller(self, sketch: Sketch) -> "TaskPrior | None":
        """With fewer values a number; where they are few already, without its last component; with fewer again."""
        if self.means.levels <= _few(sketch) and self.components > 1:
            return replace(self, means=self.means.first(self.components - 1), spreads=self.spreads[:-1].clone())
        coarser = [levels for levels in PER_BYTE if levels < self.means.levels]
        if not coarser:
            return None
        return TaskPrior.fitted(self._stored(sketch), self._deviations(sketch), sketch, coarser[0], self.short)

    def scaled(self, factors: Tensor) -> "TaskPrior":
        """The same with all units of a component, and so its spread, times a factor, [C, 1]."""
        units = (self.means.units.float() * factors).clamp(SMALLEST, LARGEST).half()
        return replace(self, means=self.means._replace(units=units))

    def state(self) -> State:
        """Tensors and plain values."""
        return {"means": self.means.state(), "spreads": self.spreads.clone(), "short": self.short}

    @classmethod
    def restored(cls, state: State) -> "TaskPrior":
        """What `state()` was taken of."""
        return cls(Quantised.restored(state["means"]), state["spreads"].clone(), bool(state.get("short", False)))

    def grown(self, outputs: Sequence[int], wide: Sketch) -> "TaskPrior":
        """Parts keep their order, so that nothing that is stored changes but which parts there are."""
        body = len(self.means.kept) - len(outputs)
        kept = [*self.means.kept[:body], *[False] * (len(wide.groups) - body)]
        for output, was_kept in zip(outputs, self.means.kept[body:], strict=True):
            kept[body + output] = was_kept
        return replace(self, means=self.means._replace(kept=tuple(kept)))


def _few(sketch: Sketch) -> int:
    """Values of a number below which a prior loses components rather than values.

    A network that normalises batches learns without noise on z and does not bear coarse values: one component in fine values
    answers better than three in few.
    """
    return FINE if sketch.network.statistics else COARSE


def _form(sketch: Sketch, short: bool) -> Sketch:
    """The form of z that is stored."""
    if not short:
        return sketch
    assert sketch.short is not None
    return sketch.short


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
    def sketch(self) -> Sketch:
        """The decoder's."""
        return self.decoder.sketch

    def prior(self, task: int) -> Prior:
        """p(z | t) of a task."""
        return next(prior for prior in self.priors[task:] if prior is not None)

    def sample(self, task: int, count: int, generator: torch.Generator) -> Tensor:
        """Psi, [count, P], drawn from p(psi | t)."""
        return self.decoder(self.prior(task).sample(self.sketch, count, generator))

    def mean(self, task: int) -> Tensor:
        """The components' mean models, [C, P]."""
        return self.decoder(self.prior(task).mean(self.sketch))

    def aggregate(self, count: int, generator: torch.Generator, weights: Tensor | None = None) -> Tensor:
        """Psi, [count, P], drawn from the mixture of all tasks' priors: component by component, the mean of the tasks' z.

        `weights` [T] says how much each task counts; all alike without it.
        """
        known = [(task, prior) for task, prior in enumerate(self.priors) if prior is not None]
        share = torch.full((len(self.priors),), 1 / len(known)) if weights is None else weights
        components = max(prior.components for _, prior in known)
        z = self.decoder.starts.new_zeros(components, self.sketch.size)
        for b in range(components):
            holding = [(float(share[task]), prior) for task, prior in known if prior.components > b]
            total = sum(part for part, _ in holding) if weights is None else 1.0
            for part, prior in holding:
                drawn = prior.sample(self.sketch, prior.components, generator).z[b]
                z[b] += part / (total or 1.0) * drawn
        chosen = torch.arange(count, device=z.device) % components
        return self.decoder(Latents(z[chosen], chosen))

    @property
    def bytes(self) -> int:
        """What all priors take."""
        return sum(prior.bytes for prior in self.priors if prior is not None)

    def form_for(self, tasks: int, components: int) -> Sketch:
        """The form of z that a task learns when so many tasks share the memory: the long one while all of them could be long with
        so many components."""
        if self.sketch.short is None or tasks * components * self._component_bytes(self.sketch) <= self.memory:
            return self.sketch
        return self.sketch.short

    def components_for(self, tasks: int, most: int, form: Sketch) -> int:
        """How many components, 1 to `most`, a task can have when so many tasks share the memory, in a form of z."""
        return max(1, min(most, -(-int(self.memory / self._component_bytes(form)) // tasks)))

    @staticmethod
    def _component_bytes(form: Sketch) -> float:
        """What a component takes, about, while a prior still has several."""
        return form.size / PER_BYTE[_few(form)] + 4 * len(form.groups)

    def state(self) -> State:
        """What is stored of every task, and where the parts of z begin and end, for those who read it without a decoder."""
        priors = [None if prior is None else prior.state() for prior in self.priors]
        state: State = {"priors": priors, "groups": [list(group) for group in self.sketch.groups]}
        if self.sketch.short is not None:
            state["short_groups"] = [list(group) for group in self.sketch.short.groups]
            state["outputs"] = self.sketch.network.classes
        return state

    def restore(self, state: State) -> None:
        """Take over what `state()` gave."""
        self.priors = [None if prior is None else self._restored(prior) for prior in state["priors"]]

"""`lookup`: MERLIN's base models, exemplars and inference around one compressed network a task."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from merlin_cl.learners.lookup.compression import Compressed, compressed
from merlin_cl.learners.lookup.settings import LookupSettings
from merlin_cl.learners.merlin.base_models import BaseModels
from merlin_cl.learners.merlin.consolidation import ReplaySet
from merlin_cl.learners.merlin.distribution import Latents, Prior, WeightDistribution
from merlin_cl.learners.merlin.learner import Merlin
from merlin_cl.networks.growth import positions_of
from merlin_cl.networks.network import Network
from merlin_cl.networks.sketch import Sketch
from merlin_cl.tensors import State

CUT = 0.9
"""How much of its bytes a network keeps when room has to be made."""


@dataclass(frozen=True)
class StoredNetwork(Prior):
    """The one network of a task, in the place of a prior: to sample from it is to look it up."""

    network: Compressed
    outputs: tuple[int, ...]
    """Where the outputs that it has are among those that there are; the others came later."""
    sketch: Sketch
    """That of all weights: z has a number for each, in another order."""

    @property
    def components(self) -> int:
        """One."""
        return 1

    @property
    def bytes(self) -> int:
        """What is stored of it."""
        return self.network.bytes

    @property
    def _shape(self) -> Network:
        """The network as it was when it was stored."""
        return self.sketch.network.with_outputs(len(self.outputs))

    def mean(self, sketch: Sketch) -> Latents:
        """The network; outputs that came later have not moved from where they start."""
        wide, narrow = self.sketch.network, self._shape
        offsets, stored = torch.zeros(1, wide.size), self.network.offsets(narrow)
        offsets[0, positions_of(wide, self.outputs)[: narrow.learned]] = stored.cpu()
        z = self.sketch.gradient(offsets.to(stored.device))  # S' is the inverse of S here
        return Latents(z, torch.zeros(1, dtype=torch.int64, device=z.device))

    def sample(self, sketch: Sketch, count: int, generator: torch.Generator) -> Latents:
        """The network, so many times."""
        z, starts = self.mean(sketch)
        return Latents(z.expand(count, -1), starts.expand(count))

    def smaller(self, sketch: Sketch) -> "StoredNetwork | None":
        """In nine tenths of its bytes."""
        whole = self.network.bytes
        cut = compressed(self.network.offsets(self._shape), self._shape, int(CUT * whole))
        return replace(self, network=cut) if cut.bytes < whole else None

    def grown(self, outputs: Sequence[int], wide: Sketch) -> "StoredNetwork":
        """The same, stored as it is."""
        return replace(self, outputs=tuple(outputs[output] for output in self.outputs), sketch=wide)

    def state(self) -> State:
        """Tensors and plain values."""
        return {**self.network.state(), "outputs": list(self.outputs)}


class Lookup(Merlin):
    """One network a task, learned as MERLIN's base models are, compressed by singular vectors or into few values an entry.

    Everything else is MERLIN's. It has no spread, so there is nothing to sample; when tasks no longer fit, all are cut to size.

    Two tasks of Split MNIST, 50 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'lookup', tasks=2, images_per_task=50).final_accuracy:.0f} %"
    '94 %'
    """

    settings: LookupSettings

    def _prior(self, base: BaseModels, replay_set: ReplaySet, generator: torch.Generator) -> Prior:
        sketch = self.distribution.decoder.sketch
        offsets, outputs = sketch.offsets(base.mean[:1])[0], tuple(range(self.network.classes))
        most = int(1000 * self.settings.task_kilobytes)
        return StoredNetwork(compressed(offsets, self.network, most), outputs, sketch)

    def _new_distribution(self) -> WeightDistribution:
        distribution = super()._new_distribution()
        sketch = distribution.decoder.sketch
        return WeightDistribution(
            distribution.decoder,
            distribution.memory,
            lambda state: StoredNetwork(Compressed.restored(state), tuple(state["outputs"]), sketch),
        )

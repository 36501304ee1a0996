"""Another number of outputs: a head that grows, or is cut down, while all other weights stay what they are."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.networks.network import Network


def positions_of(network: Network, outputs: Sequence[int]) -> Tensor:
    """Where in a row, int64 [P'], the weights are that a network with only some `outputs`, in this order, would have."""
    head, views = network.head, network.views(torch.arange(network.size).unsqueeze(0))
    parts = [view[0][..., list(outputs)] if name in head else view[0] for name, view in views.items()]
    return torch.cat([part.flatten() for part in parts])


class HeadGrowth:
    """From rows of a network to rows of a wider one, which differs from it in the outputs of its last layer alone."""

    def __init__(self, narrow: Network, wide: Network, outputs: Sequence[int]) -> None:
        """`outputs` says where the narrow network's outputs are among the wide one's."""
        head = narrow.head
        wanted = {name: (*shape[:-1], wide.classes) if name in head else shape for name, shape in narrow.shapes.items()}
        shared = narrow.constants.keys() == wide.constants.keys() and all(
            torch.equal(value, wide.constants[name]) for name, value in narrow.constants.items()
        )
        if wanted != wide.shapes or head != wide.head or not shared:
            raise UsageError(
                "The network cannot take more classes: with more of them it changes elsewhere than in its last linear layer."
            )
        self._wide = wide
        self.outputs = outputs
        self._at = positions_of(wide, outputs)

    def rows(self, flat: Tensor, fresh: Tensor | None = None) -> Tensor:
        """Rows [..., P] as rows [..., P'] of the wide network; what is new is that of `fresh` [..., P'], or zero."""
        shape = (*flat.shape[:-1], self._wide.size)
        grown = flat.new_zeros(shape) if fresh is None else fresh.to(flat).expand(shape).clone()
        grown[..., self._at.to(flat.device)] = flat
        return grown

    def moments(self, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """An optimiser's state: moments of what is new are zero, the count of steps is shared."""
        return {name: self.rows(value) if value.dim() else value for name, value in state.items()}

    def drawn(self, members: int, narrow: Tensor, generator: torch.Generator) -> Tensor:
        """Fresh weights [members, P'] from fresh weights of the narrow network, [members, P].

        New outputs are drawn one after the other, as `torch.nn.Linear` draws them, so that a head that grows in several
        steps is the one that grows in a single step.
        """
        grown, (weight, bias) = self.rows(narrow), self._wide.head
        views, width = self._wide.views(grown), self._wide.shapes[weight][0]
        for output in sorted(set(range(self._wide.classes)) - set(self.outputs)):
            column = (torch.rand(members, width + 1, generator=generator) * 2 - 1) / math.sqrt(width)
            views[weight][..., output], views[bias][..., output] = column[:, :-1], column[:, -1]
        return grown

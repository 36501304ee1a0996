"""Which exemplar of a group is to go: herding, k-centre and gradient-based choice, each for a stream that passes once.

All of them see an example through a fixed random projection that the seed regenerates, so they depend on data and seed alone:
learners with the same seed hold the same exemplars, whatever else they learn.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.learners.means import Choice
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.per_example import example_gradients
from merlin_cl.tensors import as_float

Group = tuple[int, int]
"""(task, label)"""
WIDTH = 128
"""Numbers that an example is compared by; inputs with more are projected to so many, which keeps distances to about a tenth."""
HIDDEN = 64
"""Hidden units of the untrained network that gradients are taken of."""


class Criterion(ABC):
    """Says which of a group's candidates is to go. Of an example it is shown the features [F] only."""

    def __init__(self, input_shape: tuple[int, ...], seed: int) -> None:
        self._random = torch.Generator().manual_seed(seed)
        self._inputs = math.prod(input_shape)
        self._projection: Tensor | None = None  # [F, inputs]; inputs that are few enough are taken as they are
        if self._inputs > WIDTH:
            self._projection = torch.randn(WIDTH, self._inputs, generator=self._random) / WIDTH**0.5

    @property
    def width(self) -> int:
        """Numbers that stand for an example (F)."""
        return min(self._inputs, WIDTH)

    def features(self, example: Tensor) -> Tensor:
        """What stands for an example, [F]: the same bits whatever comes with it."""
        # A copy of its own: rounding may depend on where in memory an example lies.
        flat = as_float(example).flatten().clone()
        return flat if self._projection is None else self._projection.to(flat) @ flat

    def note(self, group: Group, example: Tensor, count: int) -> None:  # noqa: B027  # most have nothing to note
        """An example of a group passes, so many have with it."""

    @abstractmethod
    def leaver(self, group: Group, candidates: Tensor) -> int:
        """The place among the candidates, features [n, F], of the one that is to go; of equals the later one."""

    @property
    def unsettled(self) -> list[Group]:
        """Groups of which something is kept that `final_order` would make superfluous."""
        return []

    def final_order(self, group: Group, candidates: Tensor) -> list[int]:
        """No more of a group will pass: the places of its candidates [n, F], the first to go last where that is settled."""
        return list(range(len(candidates)))

    def state(self) -> dict[str, Any]:
        """What has been noted."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Take over what `state()` gave."""

    @property
    def stored_bytes(self) -> int:
        """Of what has been noted."""
        return 0


class Herding(Criterion):
    """The mean of those that stay is as near as can be to the mean of all that have passed (Welling 2009).

    It is kept while a group's examples pass. Then the order in which its exemplars would go is all that is needed.
    """

    def __init__(self, input_shape: tuple[int, ...], seed: int) -> None:
        super().__init__(input_shape, seed)
        self._means: dict[Group, Tensor] = {}  # [F]

    def note(self, group: Group, example: Tensor, count: int) -> None:
        """The mean moves towards it."""
        features = self.features(example)
        assert count == 1 or group in self._means, f"{group} is settled"
        mean = self._means.get(group, torch.zeros_like(features))
        self._means[group] = mean + (features - mean) / count

    def leaver(self, group: Group, candidates: Tensor) -> int:
        """The one without which the others' mean is nearest; the last where the order is settled."""
        if len(candidates) == 1 or group not in self._means:
            return len(candidates) - 1
        without = (candidates.sum(dim=0) - candidates) / (len(candidates) - 1)  # [n, F], the mean when each has left
        return _last_least((without - self._means[group]).square().sum(dim=1))

    @property
    def unsettled(self) -> list[Group]:
        """Those with a mean."""
        return list(self._means)

    def final_order(self, group: Group, candidates: Tensor) -> list[int]:
        """The order in which they would go one by one, backwards."""
        staying, gone = list(range(len(candidates))), list[int]()
        while staying:
            gone.append(staying.pop(self.leaver(group, candidates[staying])))
        del self._means[group]
        return gone[::-1]

    def state(self) -> dict[str, Any]:
        """The means."""
        return {
            "groups": [list(group) for group in self._means],
            "means": torch.stack(list(self._means.values())) if self._means else torch.zeros(0),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over the means."""
        means = zip(state["groups"], state["means"].clone(), strict=True)
        self._means = {(task, label): mean for (task, label), mean in means}

    @property
    def stored_bytes(self) -> int:
        """A mean for every group that is not settled."""
        return 4 * self.width * len(self._means)


class KCentre(Criterion):
    """Those that stay cover what has passed: of the two nearest to each other, that with the nearer next neighbour goes."""

    def leaver(self, group: Group, candidates: Tensor) -> int:
        """One of the two that are nearest to each other."""
        return crowded(self._distances(candidates))

    def _distances(self, candidates: Tensor) -> Tensor:
        """[n, n], in any unit that grows with the distance."""
        products = candidates @ candidates.T
        squares = products.diagonal()
        return squares[:, None] + squares - 2 * products


class GradientDiversity(KCentre):
    """The same between the directions in which examples would change a network that is not trained.

    Aljundi et al. (2019) compare gradients of the network that learns; here it has one hidden layer, one output that is to
    say yes to every example, and the weights that the seed gives it.
    """

    def __init__(self, input_shape: tuple[int, ...], seed: int) -> None:
        super().__init__(input_shape, seed)
        self._network = MLP((self.width,), 1, (HIDDEN,))
        self._weights = self._network.initial(1, self._random)[0]

    def _distances(self, candidates: Tensor) -> Tensor:
        labels = torch.zeros(len(candidates), dtype=torch.int64, device=candidates.device)
        gradients = example_gradients(self._network, self._weights.to(candidates), candidates, labels, _says_yes)
        return 1 - gradients.cosines(gradients)


def crowded(distances: Tensor) -> int:
    """Of the two nearest to each other, distances [n, n], that whose next neighbour is nearer; of equals the later one."""
    count = len(distances)
    if count == 1:
        return 0
    apart = distances.clone().fill_diagonal_(torch.inf)
    first, second = sorted(divmod(int(apart.argmin()), count))
    apart[first, second] = apart[second, first] = torch.inf
    return first if apart[first].min() < apart[second].min() else second


def criterion(choice: Choice, input_shape: tuple[int, ...], seed: int) -> Criterion | None:
    """The criterion of a choice; None where chance decides."""
    kinds: dict[str, type[Criterion]] = {"herding": Herding, "k-centre": KCentre, "gradient": GradientDiversity}
    return kinds[choice](input_shape, seed) if choice in kinds else None


def _says_yes(logits: Tensor, labels: Tensor) -> Tensor:
    """-log sigmoid(logit), [N]."""
    return functional.softplus(-logits[:, 0])


def _last_least(values: Tensor) -> int:
    """The place of the least value, the last of equals."""
    return len(values) - 1 - int(values.flip(0).argmin())

"""`icarl`: the nearest mean of herded exemplars, with features kept by distillation."""

from typing import ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.memory.exemplars import ExemplarMemory
from merlin_cl.learners.network_learner import NetworkLearner
from merlin_cl.learners.rivals.icarl_settings import ICaRLSettings
from merlin_cl.learners.rivals.nearest_mean import class_means, nearest_mean, unit_features
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo
from merlin_cl.tensors import State, as_float, rows


class ICaRL(NetworkLearner[ICaRLSettings]):
    """Incremental classifier and representation learning (Rebuffi et al. 2017).

    Each class has a list of exemplars in the order of herding; with more classes, lists are cut from their end. The network
    learns new classes by their labels and old ones by what it said before the task, all with binary cross-entropy, on
    arriving examples and exemplars. It answers with the class whose exemplars' mean feature is nearest.

    Deviations, all because each example comes once and the budget holds at any moment: one pass with Adam; a new class's
    exemplars are herded not from all its examples but from a reservoir of them, as large as the budget has room for (so
    herding decides which of them outlast later tasks); exemplars are drawn anew with each batch. A class that comes back, which
    theirs do not, is learned by its labels again, and its list is herded from the old one and what has come since.

    Three tasks of Split MNIST, 100 images each:

    >>> from merlin_cl import run
    >>> f"{run('split-mnist', 'icarl', tasks=3, images_per_task=100).final_accuracy:.0f} %"
    '78 %'
    """

    gives_probabilities: ClassVar[bool] = (
        False  # a distance from a mean is no likelihood: nothing says how steeply it falls
    )

    def __init__(self, stream: StreamInfo, settings: ICaRLSettings, seed: int, device: str = "cpu") -> None:
        if stream.domain_incremental:
            raise UsageError(
                f"icarl learns new classes, but {stream.name} brings new domains of the same ones; choose another method."
            )
        if settings.exemplars < stream.classes:
            raise UsageError(
                f"exemplars is {settings.exemplars}; icarl needs at least one for each of {stream.classes} classes."
            )
        super().__init__(stream, settings, seed, device)
        self._choices, self._draws = self.generator("exemplars"), self.generator("replay")
        self.lists: dict[int, Tensor] = {}  # exemplars [m, *input_shape] of each old class, in the order of herding
        self._all_lists: tuple[Tensor, Tensor] | None = None  # their inputs and labels in one, made when asked for
        self._newcomers = self._reservoir(settings.exemplars)  # of the classes being learned
        self._before = Bank(self.network, self.bank.weights.clone())  # the network as it was when the task began

    def _reservoir(self, budget: int) -> ExemplarMemory:
        return ExemplarMemory(
            budget, self.settings.exemplar_choice, self.stream.input_shape, self._choices, self.device
        )

    @property
    def _length(self) -> int:
        """Exemplars of each class seen."""
        return self.settings.exemplars // len(self.seen)

    def _begin(self, task: TaskInfo) -> None:
        self._cut_lists()
        self._newcomers = self._reservoir(self.settings.exemplars - sum(map(len, self.lists.values())))
        self._before.weights.copy_(self.bank.weights)

    def _admitted(self) -> None:
        self._cut_lists()
        self._newcomers.budget = self.settings.exemplars - sum(map(len, self.lists.values()))

    def _cut_lists(self) -> None:
        """Make room for the classes that have come."""
        self.lists = {label: x[: self._length] for label, x in self.lists.items()}
        self._all_lists = None

    def _observe(self, x: Tensor, y: Tensor) -> None:
        super()._observe(x, y)
        self._newcomers.offer(x, y, self.tasks[-1].index)

    def _update(self, x: Tensor, y: Tensor) -> None:
        if self.lists:
            old_x, old_y = self._old_exemplars()
            places = torch.randperm(len(old_y), generator=self._draws)[: self.settings.replay].to(self.device)
            x, y = torch.cat([x, self.augmented(as_float(rows(old_x, places)))]), torch.cat([y, old_y[places]])
        targets = functional.one_hot(y, self.stream.classes).float()  # [N, classes]
        old = sorted(self.lists.keys() - set(self.tasks[-1].classes))
        targets[:, old] = self._before.logits(x)[0][:, old].sigmoid()
        logits, aims = self.forward(x)[:, self.seen], targets[:, self.seen]
        each = functional.binary_cross_entropy_with_logits(logits, aims, reduction="none")
        self.descend(each.sum(dim=1).mean())

    def _end(self) -> None:
        with self.phases.timed("consolidate"):
            x, y = self._newcomers.x, self._newcomers.y
            for label in y.unique().tolist():
                own = torch.cat([self.lists[label], x[y == label]]) if label in self.lists else x[y == label]
                order = herded(unit_features(self.bank, as_float(own)), self._length)
                self.lists[label] = own[order]
            self._all_lists, self._newcomers = None, self._reservoir(0)

    def _old_exemplars(self) -> tuple[Tensor, Tensor]:
        if self._all_lists is None:
            labels = [torch.full((len(x),), label, device=self.device) for label, x in self.lists.items()]
            self._all_lists = torch.cat(list(self.lists.values())), torch.cat(labels)
        return self._all_lists

    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        parts = [(self._newcomers.x, self._newcomers.y)] if len(self._newcomers) else []
        parts += [self._old_exemplars()] if self.lists else []
        if not parts:
            return super()._answers(x, allowed, task, inference)
        exemplars = as_float(torch.cat([part for part, _ in parts]))
        labels = torch.cat([part for _, part in parts])
        means, known = class_means(unit_features(self.bank, exemplars), labels, self.stream.classes)
        return nearest_mean(unit_features(self.bank, as_float(x)), means, known, allowed)

    def _state(self) -> State:
        return {
            **super()._state(),
            "lists": {str(label): x.clone() for label, x in self.lists.items()},
            "newcomers": self._newcomers.state(),
            "room": self._newcomers.budget,
            "before": self._before.weights.clone(),
            "draws": self._draws.get_state(),
        }

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.lists = {int(label): x.clone() for label, x in state["lists"].items()}
        self._all_lists = None
        self._newcomers = self._reservoir(state["room"])
        self._newcomers.restore(state["newcomers"])
        self._before.weights.copy_(state["before"])
        self._draws.set_state(state["draws"])

    def _widened(self, state: State, narrow: Self) -> State:
        before = self._head_growth(narrow).rows(state["before"], self.bank.weights)
        return {**super()._widened(state, narrow), "before": before}

    def stored_bytes(self) -> dict[str, int]:
        """The network, its optimiser, the exemplars, and within a task the network as it was before."""
        lists = sum(x.numel() * x.element_size() + len(x) for x in self.lists.values())
        return {
            **super().stored_bytes(),
            "exemplars": lists + self._newcomers.stored_bytes,
            "previous_classifier": 4 * self.network.size if self.learning else 0,
        }


def herded(features: Tensor, count: int) -> Tensor:
    """Places of up to `count` examples in the order of herding: each brings the mean of those chosen nearest to the mean.

    features [n, d]; no example is chosen twice.
    """
    mean, chosen_sum = features.mean(dim=0), torch.zeros_like(features[0])
    chosen: list[int] = []
    free = torch.ones(len(features), dtype=torch.bool, device=features.device)
    for number in range(1, min(count, len(features)) + 1):
        distance = (mean - (features + chosen_sum) / number).norm(dim=1)  # [n]
        best = int(distance.masked_fill(~free, torch.inf).argmin())
        chosen.append(best)
        free[best] = False
        chosen_sum += features[best]
    return torch.tensor(chosen, dtype=torch.int64, device=features.device)

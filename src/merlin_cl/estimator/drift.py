"""Has the stream changed? Three witnesses: classes that the current task has not had, a small classifier that is surprised, and
inputs of known classes that look different (`shift.py`).

The classifier learns along with the stream, whatever method does the learning proper, and its loss on every arriving batch is
taken before it learns from it. A cumulative sum of how far the loss lies above what it has been (Page 1954) raises the alarm: one
odd batch does not, a few in a row do.
"""

import itertools
import math
from typing import Any

import torch
from torch import Tensor

from merlin_cl.estimator.shift import ShiftWitness
from merlin_cl.learners.network_learner import cross_entropy
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.growth import HeadGrowth
from merlin_cl.networks.mlp import MLP
from merlin_cl.tensors import State, as_float

HIDDEN, RATE, UPDATES = (50,), 3e-3, 2
"""Of the small classifier: its hidden units, Adam's rate, and its updates a batch."""
SETTLING = 200
"""Examples of a task before its losses can raise the alarm: at first they fall."""
QUIET = 50
"""Examples without a new class after which the classes of a task are thought to be settled; what comes then is a newcomer."""
PATIENCE = 200
"""Examples after which a newcomer that has changed nothing is a class of the task that came late."""
CLEAR, FEWEST = 0.8, 5
"""A new task begins with the first newcomer of a batch, if at least so many follow and they are this share of what follows."""
MAJORITY, WINDOW = 0.5, 30
"""It also begins where this share of the last so many examples is of newcomers."""
MEMORY = 0.05
"""Weight of a batch in the running mean and variance of the losses."""
SLACK, LARGEST, ALARM = 1.0, 6.0, 9.0
"""In standard deviations: what a loss may lie above the mean for nothing, the most that one batch counts, and the sum that
raises the alarm: two batches that are far off, or many that are a little off."""
SHIFTED = 9.0
"""Standard deviations that inputs lie from those before them where they have changed. Chosen on streams of seeds 100 and up, of
which still ones came to 5.6 and digits turned by 18 degrees to 11 and more."""


class DriftDetector:
    """Tells from each batch, before it is learned, whether a new task begins with it."""

    def __init__(self, input_shape: tuple[int, ...]) -> None:
        self._shape = input_shape
        self._bank, self._training = self._classifier(outputs=2)
        self._witness = ShiftWitness(input_shape)
        self._begin_task()

    def _classifier(self, outputs: int) -> tuple[Bank, Training]:
        network = MLP(self._shape, outputs, HIDDEN)
        bank = Bank(network, network.initial(1, torch.Generator().manual_seed(0)))
        return bank, Training(bank, RATE)

    def _begin_task(self) -> None:
        self._first: dict[int, int] = {}  # when each class of this task was first met, in examples of the task
        self._settled: set[int] = set()
        self._newcomers: list[bool] = []  # whether each of the last examples was one
        self._examples, self._since_new = 0, 0  # of this task; and since a class turned up in it
        self._mean, self._variance, self._sum = 0.0, 0.0, 0.0
        self._batches = 0
        self._witness.begin_task()

    def change(self, x: Tensor, y: Tensor) -> int | None:
        """The number of the example with which a new task begins, None if none does, in x uint8 or float [N, *input_shape],
        y int64 [N]; learns from them, too."""
        x, y = as_float(x).cpu(), y.cpu()
        self._make_room(int(y.max()) + 1)
        known = torch.tensor([label in self._first for label in y.tolist()])
        at = self._replaced(y.tolist())
        if at is None and self._surprised(x[known], y[known]):
            at = 0
        if at is None and self._witness.surprise(x, y) > SHIFTED:
            at = 0
        if at is not None:
            self._begin_task()
            self._witness.surprise(x[at:], y[at:])
        self._note(y[at or 0 :].tolist())
        for _ in range(UPDATES):
            self._training.step(x[at or 0 :], y[at or 0 :], self._allowed)
        return at

    def doubtful(self, y: Tensor) -> int:
        """How many newcomers at the end of y int64 [N], behind others, are too few to tell a new task from a late class."""
        newcomers = [bool(self._settled) and label not in self._settled for label in y.tolist()]
        at_the_end = len(list(itertools.takewhile(bool, reversed(newcomers))))
        return at_the_end if at_the_end < min(FEWEST, len(newcomers)) else 0

    def _replaced(self, labels: list[int]) -> int | None:
        """Where other classes take the place of those that the task had."""
        if not self._settled:
            return None
        newcomers = [label not in self._settled for label in labels]
        self._newcomers = (self._newcomers + newcomers)[-WINDOW:]
        if not any(newcomers):
            return None
        first = newcomers.index(True)
        following = newcomers[first:]
        clearly = sum(following) >= max(FEWEST, CLEAR * len(following))
        at_last = len(self._newcomers) == WINDOW and sum(self._newcomers) >= MAJORITY * WINDOW
        return first if clearly or at_last else None

    def _note(self, labels: list[int]) -> None:
        """Keep count of the classes of the task."""
        new = set(labels) - self._first.keys()
        self._first |= dict.fromkeys(new, self._examples)
        self._since_new = 0 if new else self._since_new + len(labels)
        self._examples += len(labels)
        if not self._settled and self._since_new >= QUIET:
            self._settled = set(self._first)
        if self._settled:
            self._settled |= {label for label, at in self._first.items() if self._examples - at >= PATIENCE}

    @property
    def _allowed(self) -> Tensor:
        mask = torch.zeros(self._bank.network.classes, dtype=torch.bool)
        mask[sorted(self._first)] = True
        return mask

    def _surprised(self, x: Tensor, y: Tensor) -> bool:
        """Whether the losses have risen; takes note of the loss on this batch."""
        if len(y) == 0:
            return False
        loss = float(cross_entropy(self._bank.logits(x)[0], y, self._allowed).mean())
        self._batches += 1
        deviation = math.sqrt(self._variance) + 0.05  # losses near zero hardly vary: small changes mean nothing
        above = min((loss - self._mean) / deviation, LARGEST)
        if self._examples >= SETTLING:
            self._sum = max(0.0, self._sum + above - SLACK)
            loss = min(loss, self._mean + 2 * deviation)  # what may be a change is not yet what is usual
        weight = max(MEMORY, 1 / self._batches)
        step = loss - self._mean
        self._mean += weight * step
        self._variance = (1 - weight) * (self._variance + weight * step**2)
        return self._sum > ALARM

    def _make_room(self, classes: int) -> None:
        narrow = self._bank.network
        if classes <= narrow.classes:
            return
        weights, moments = self._bank.weights, self._training.state()
        self._bank, self._training = self._classifier(max(classes, 2 * narrow.classes))
        head = HeadGrowth(narrow, self._bank.network, range(narrow.classes))
        self._bank.weights.copy_(head.rows(weights, self._bank.weights))
        self._training.restore(head.moments(moments))

    def state(self) -> State:
        """Everything."""
        return {
            "outputs": self._bank.network.classes,
            "weights": self._bank.weights.clone(),
            "training": self._training.state(),
            "first": [[label, at] for label, at in self._first.items()],
            "settled": sorted(self._settled),
            "newcomers": list(self._newcomers),
            "numbers": [self._examples, self._since_new, self._batches, self._mean, self._variance, self._sum],
            "witness": self._witness.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state()` gave; ValueError where it cannot have given that."""
        outputs, first, numbers = state["outputs"], state["first"], state["numbers"]
        counts = [outputs, *numbers[:3], *(number for pair in first for number in pair), *state["settled"]]
        labels = {label for label, _ in first}
        if not (
            all(type(count) is int and count >= 0 for count in counts)
            and all(label < outputs for label in labels)
            and set(state["settled"]) <= labels
            and all(type(newcomer) is bool for newcomer in state["newcomers"][:WINDOW])
            and len(state["newcomers"]) <= WINDOW
            and all(type(number) is float and math.isfinite(number) for number in numbers[3:])
            and min(numbers[4:]) >= 0
        ):
            raise ValueError("its detector of changes is not one that was saved")
        self._witness = ShiftWitness(self._shape)
        if "witness" in state:  # files of 0.1 have none: it begins to watch
            self._witness.restore(state["witness"])
        self._bank, self._training = self._classifier(outputs)
        self._bank.weights.copy_(state["weights"])
        self._training.restore(state["training"])
        self._first = {int(label): int(at) for label, at in state["first"]}
        self._settled, self._newcomers = set(state["settled"]), list(state["newcomers"])
        self._examples, self._since_new, self._batches, self._mean, self._variance, self._sum = state["numbers"]

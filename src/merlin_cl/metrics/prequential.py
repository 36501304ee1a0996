"""How well a learner answers what it is about to learn: every example is a test first, and a lesson after (Dawid 1984)."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from merlin_cl.errors import UsageError

WINDOW = 200
"""Examples that `recent` figures are of, unless told otherwise."""
LEAST = 1e-12
"""The least probability that counts: a right label that was thought impossible costs this much and no more."""


@dataclass
class RunningScore:
    """Figures of all examples so far and of the last ones, in memory that does not grow with their number.

    >>> score = RunningScore(window=2)
    >>> score.add([1, 1, 0], [1, 0, 0], [0.9, 0.2, 0.7], [True] * 3)
    >>> round(score.accuracy, 3), score.recent_accuracy, round(score.kappa, 3), round(score.log_loss, 3)
    (0.667, 0.5, 0.4, 0.69)
    """

    window: int = WINDOW
    examples: int = 0
    right: int = 0
    met: int = 0
    """Examples whose class had been met before."""
    curve: list[tuple[int, float]] = field(default_factory=list)
    """After every full window: examples so far, and the accuracy on the window."""
    _losses: float = 0.0
    _last: deque[bool] = field(default_factory=deque)
    _truths: Counter[Hashable] = field(default_factory=Counter)
    _answers: Counter[Hashable] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if not isinstance(self.window, int) or isinstance(self.window, bool) or self.window < 1:
            raise UsageError(f"window is {self.window!r}; give a number of examples of at least 1.")
        self._last = deque(maxlen=self.window)

    def add(
        self,
        truths: Sequence[Hashable],
        answers: Sequence[Hashable],
        probabilities: Sequence[float],
        met: Sequence[bool],
    ) -> None:
        """More examples: their labels, what was answered, how probable the true label was, and whether its class was known."""
        for truth, answer, probability, known in zip(truths, answers, probabilities, met, strict=True):
            self.examples += 1
            self.right += truth == answer
            self._last.append(truth == answer)
            self._truths[truth] += 1
            self._answers[answer] += 1
            if known:
                self.met += 1
                self._losses -= math.log(max(probability, LEAST))
            if self.examples % self.window == 0:
                self.curve.append((self.examples, self.recent_accuracy))

    @property
    def accuracy(self) -> float:
        """The share of answers that were right; NaN before the first."""
        return self.right / self.examples if self.examples else math.nan

    @property
    def recent_accuracy(self) -> float:
        """The same of the last window."""
        return sum(self._last) / len(self._last) if self._last else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa: 0 for answers that are no better than labels drawn by their frequency, 1 for right ones."""
        if not self.examples:
            return math.nan
        chance = sum(count * self._answers[label] for label, count in self._truths.items()) / self.examples**2
        return (self.accuracy - chance) / (1 - chance) if chance < 1 else 1.0

    @property
    def log_loss(self) -> float:
        """The mean negative log-likelihood in nats, of examples whose class had been met; NaN where there are none."""
        return self._losses / self.met if self.met else math.nan

    def record(self) -> dict[str, Any]:
        """The figures as JSON can hold them."""
        figures = {
            "accuracy": self.accuracy,
            "recent_accuracy": self.recent_accuracy,
            "kappa": self.kappa,
            "log_loss": self.log_loss,
        }
        known = {name: None if math.isnan(value) else value for name, value in figures.items()}
        return {"examples": self.examples, "of_classes_met": self.met, **known}

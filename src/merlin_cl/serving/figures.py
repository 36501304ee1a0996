"""How a service does: answers and how long they took, accuracy before learning, and whether either has changed of late."""

from __future__ import annotations

import bisect
import math
from collections import deque
from collections.abc import Iterable, Sequence
from statistics import fmean, pvariance
from typing import Any

from merlin_cl.serving.journal import EntryOutcome

RECENT, BEFORE = 200, 2_000
"""Examples, or answers, that are compared: the last ones with those before them."""
CHANGED = 4.0
"""Standard errors by which recent ones differ, where that is called a change."""
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Seconds: ends of the bins that answers are counted in by how long they took."""
POINTS = 720
"""Of the history that the dashboard draws; an hour, at one in five seconds."""


class Latencies:
    """How long the last answers took, and how many ever took how long."""

    def __init__(self) -> None:
        self.counts, self.total = [0] * (len(BOUNDS) + 1), 0.0
        self._last: deque[float] = deque(maxlen=10 * RECENT)

    def add(self, seconds: float) -> None:
        """One more."""
        self.counts[bisect.bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds
        self._last.append(seconds)

    def quantile(self, share: float) -> float | None:
        """The time within which this share of the last answers was given."""
        ordered = sorted(self._last)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


class Change:
    """Whether the last numbers of a series differ from those before them by more than chance."""

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=RECENT + BEFORE)

    def add(self, values: Iterable[float]) -> None:
        """More numbers."""
        self._last.extend(values)

    @property
    def recent(self) -> float | None:
        """The mean of the last numbers."""
        last = list(self._last)[-RECENT:]
        return fmean(last) if last else None

    def record(self) -> dict[str, Any]:
        """The means of recent numbers and of those before, and whether they differ; None before there are enough."""
        values = list(self._last)
        recent, before = values[-RECENT:], values[:-RECENT]
        known = {"recent": fmean(recent) if recent else None, "before": None, "changed": None}
        if len(before) < RECENT:
            return known
        error = math.sqrt(pvariance(values) * (1 / len(recent) + 1 / len(before))) + 1e-3  # if nothing has changed
        difference = fmean(recent) - fmean(before)
        return {**known, "before": fmean(before), "changed": abs(difference) > CHANGED * error}


class Figures:
    """All figures of a service since it began, or, of accuracy, since the journal did."""

    def __init__(self) -> None:
        self.latencies = Latencies()
        self.requests: dict[tuple[str, int], int] = {}
        self.answered = self.learned = self.refused = 0
        self.right, self.covered, self.confidence = Change(), Change(), Change()
        self.history: deque[dict[str, Any]] = deque(maxlen=POINTS)
        self.last_refusal: str | None = None
        self._answered_then = 0

    def remember(self, answered: Sequence[tuple[int, int | None, int | None]]) -> None:
        """Take over what was answered before learning: examples, right answers, covered labels."""
        for count, right, covered in answered:
            for change, number in ((self.right, right), (self.covered, covered)):
                if number is not None:
                    change.add([1.0] * number + [0.0] * (count - number))

    def request(self, path: str, status: int) -> None:
        """One more request was answered so."""
        key = (path, status)
        self.requests[key] = self.requests.get(key, 0) + 1

    def answer(self, seconds: float, confidences: Sequence[float]) -> None:
        """A question was answered with such probabilities."""
        self.latencies.add(seconds)
        self.answered += len(confidences)
        self.confidence.add(confidences)

    def outcomes(self, outcomes: Sequence[EntryOutcome]) -> None:
        """Entries were learned, or refused; those that had to be learned again were counted before."""
        for outcome in outcomes:
            if outcome.again:
                continue
            if outcome.refusal is None:
                self.learned += outcome.examples
            else:
                self.refused += outcome.examples
                self.last_refusal = outcome.refusal
            self.remember([(outcome.examples, outcome.answered_right, outcome.covered)])

    def point(self, seconds: float, **more: Any) -> None:
        """One more point of the history, so many seconds after the last."""
        rate = (self.answered - self._answered_then) / seconds
        self._answered_then = self.answered
        self.history.append(
            {
                "accuracy": self.right.recent,
                "coverage": self.covered.recent,
                "confidence": self.confidence.recent,
                "answers": rate,
                "median": self.latencies.quantile(0.5),
                "slowest": self.latencies.quantile(0.99),
                **more,
            }
        )


def exposition(figures: Figures, gauges: dict[str, float | None]) -> str:
    """The figures as Prometheus reads them."""
    lines: list[str] = []

    def family(name: str, kind: str, about: str, samples: Iterable[tuple[str, float]]) -> None:
        lines.extend([f"# HELP merlin_{name} {about}", f"# TYPE merlin_{name} {kind}"])
        lines.extend(f"merlin_{name}{labels} {value:.12g}" for labels, value in samples)

    asked = [(f'{{path="{path}",status="{status}"}}', n) for (path, status), n in sorted(figures.requests.items())]
    family("requests_total", "counter", "Requests by path and status.", asked)
    family("answers_total", "counter", "Inputs that were answered.", [("", figures.answered)])
    family("learned_total", "counter", "Examples that were learned.", [("", figures.learned)])
    family("refused_total", "counter", "Examples that could not be learned.", [("", figures.refused)])
    bins: list[tuple[str, float]] = []
    counts, below = figures.latencies.counts, 0
    for bound, count in zip((*BOUNDS, math.inf), counts, strict=True):
        below += count
        bins.append((f'_bucket{{le="{"+Inf" if bound == math.inf else format(bound, "g")}"}}', below))
    bins += [("_sum", figures.latencies.total), ("_count", below)]
    family("answer_seconds", "histogram", "Seconds that requests for answers took.", bins)
    before = {"accuracy_before_learning": figures.right.recent, "coverage_before_learning": figures.covered.recent}
    for name, value in {**before, **gauges}.items():
        if value is not None:
            family(name, "gauge", name.replace("_", " ").capitalize() + ".", [("", value)])
    return "\n".join(lines) + "\n"

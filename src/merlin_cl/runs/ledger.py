"""What a run has found so far. It travels in the checkpoint, so that a resumed run ends with the same result."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from merlin_cl.learners.learner import Learner
from merlin_cl.learners.means import means_of
from merlin_cl.metrics import METRICS, learning_curve
from merlin_cl.runs.calibration import Record, uncertainty_of
from merlin_cl.runs.config import FORMAT, RunConfig
from merlin_cl.runs.evaluate import Evaluation, Question

if sys.platform != "win32":
    import resource

Probe = dict[str, float] | None


@dataclass
class Ledger:
    """Accuracies, calibration, diagnosis and cost of the tasks done."""

    asked: list[Question]
    rows: list[list[list[float]]] = field(default_factory=list)
    """For every task done and every question: the accuracies on the tasks seen."""
    calibration: list[list[Record | None]] = field(default_factory=list)
    """For every task done and every question: likelihood, Brier score and calibration error, and at the end what figures show;
    None where there are no probabilities."""
    learned: list[Probe] = field(default_factory=list)
    """What the learner said of each task right after learning it."""
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    """Spent outside the learner, by kind."""
    task_seconds: list[float] = field(default_factory=list)
    peak_rss_bytes: int = 0
    held_bytes: int = 0
    """The most that the learner held at the end of a task's last batch; 0 where it was not measured."""

    @property
    def tasks_done(self) -> int:
        """How many tasks have been learned and scored."""
        return len(self.rows)

    def add(self, evaluations: dict[Question, Evaluation], probe: Probe, held: int = 0) -> None:
        """A task is done; when its last batch had come, the learner held so many bytes."""
        self.rows.append([evaluations[question].accuracies for question in self.asked])
        self.calibration.append([_calibration(evaluations[question]) for question in self.asked])
        self.learned.append(probe)
        self.peak_rss_bytes = max(self.peak_rss_bytes, peak_rss_bytes())
        self.held_bytes = max(self.held_bytes, held)

    def matrix(self, question: Question) -> list[list[float | None]]:
        """The accuracy matrix, square: None for tasks not yet learned."""
        place = self.asked.index(question)
        size = self.tasks_done
        return [[*rows[place], *[None] * (size - len(rows[place]))] for rows in self.rows]

    @contextmanager
    def timed(self, kind: str, learner: Learner[Any]) -> Iterator[None]:
        """Count the CPU time of the block towards `kind`, less what the learner itself counts meanwhile."""
        start, own = time.process_time(), sum(learner.phases.cpu_seconds.values())
        yield
        spent = time.process_time() - start - (sum(learner.phases.cpu_seconds.values()) - own)
        self.cpu_seconds[kind] = self.cpu_seconds.get(kind, 0.0) + max(0.0, spent)

    def state(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Ledger":
        """The ledger that `state` was taken from. Older ones did not measure calibration: it is missing for their tasks."""
        missing = [[None] * len(state["asked"]) for _ in state["rows"]]
        asked = [Question(**question) for question in state["asked"]]
        return cls(**{"calibration": missing, **state, "asked": asked})

    def result(
        self, config: RunConfig, learner: Learner[Any], final: list[Probe], others: dict[Question, Record] | None = None
    ) -> dict[str, Any]:
        """The content of result.json."""
        record = config.record()
        seconds = {**learner.phases.cpu_seconds, **self.cpu_seconds}
        return {
            "format": FORMAT,
            "stream": record["stream"]["name"],
            "method": record["method"]["name"],
            "preset": config.preset,
            "seed": config.seed,
            "tasks": self.tasks_done,
            "source": config.source,
            "fingerprint": config.fingerprint,
            "batch_size": config.batch_size,
            "exemplars": record["method"].get("exemplars"),
            "updates_per_batch": record["method"].get("updates_per_batch"),
            "means": means_of(record["method"], record["stream"]["name"]),
            "settings": {key: record[key] for key in ("stream", "method", "inference", "device", "threads")},
            "scores": [self._score(question, (others or {}).get(question)) for question in self.asked],
            "diagnosis": {"learned": self.learned, "final": final},
            "parameters": learner.parameters(),
            "cost": {
                "cpu_seconds": {kind: round(value, 3) for kind, value in seconds.items()},
                "peak_rss_bytes": max(self.peak_rss_bytes, peak_rss_bytes()),
                "stored_bytes": learner.stored_bytes(),
                "held_bytes": self.held_bytes or None,
            },
        }

    def _score(self, question: Question, other: Record | None) -> dict[str, Any]:
        matrix = self.matrix(question)
        return {
            **asdict(question),
            **{name: metric(matrix) for name, metric in METRICS.items()},
            "learning_curve": learning_curve(matrix),
            "matrix": matrix,
            "uncertainty": uncertainty_of([row[self.asked.index(question)] for row in self.calibration], other),
        }


def _calibration(evaluation: Evaluation) -> Record | None:
    return None if evaluation.calibration is None else evaluation.calibration.record()


def peak_rss_bytes() -> int:
    """The most memory this process has had at once; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

"""What a run has found so far. It travels in the checkpoint, so that a resumed run ends with the same result."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from merlin_cl.learners.learner import Learner
from merlin_cl.metrics import METRICS, learning_curve
from merlin_cl.runs.config import FORMAT, RunConfig
from merlin_cl.runs.evaluate import Question

if sys.platform != "win32":
    import resource

Probe = dict[str, float] | None


@dataclass
class Ledger:
    """Accuracies, diagnosis and cost of the tasks done."""

    asked: list[Question]
    rows: list[list[list[float]]] = field(default_factory=list)
    """For every task done and every question: the accuracies on the tasks seen."""
    learned: list[Probe] = field(default_factory=list)
    """What the learner said of each task right after learning it."""
    cpu_seconds: dict[str, float] = field(default_factory=dict)
    """Spent outside the learner, by kind."""
    task_seconds: list[float] = field(default_factory=list)
    peak_rss_bytes: int = 0

    @property
    def tasks_done(self) -> int:
        """How many tasks have been learned and scored."""
        return len(self.rows)

    def add(self, rows: dict[Question, list[float]], probe: Probe) -> None:
        """A task is done."""
        self.rows.append([rows[question] for question in self.asked])
        self.learned.append(probe)
        self.peak_rss_bytes = max(self.peak_rss_bytes, peak_rss_bytes())

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
        """The ledger that `state` was taken from."""
        return cls(**{**state, "asked": [Question(**question) for question in state["asked"]]})

    def result(self, config: RunConfig, learner: Learner[Any], final: list[Probe]) -> dict[str, Any]:
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
            "settings": {key: record[key] for key in ("stream", "method", "inference", "device", "threads")},
            "scores": [self._score(question) for question in self.asked],
            "diagnosis": {"learned": self.learned, "final": final},
            "parameters": learner.parameters(),
            "cost": {
                "cpu_seconds": {kind: round(value, 3) for kind, value in seconds.items()},
                "peak_rss_bytes": max(self.peak_rss_bytes, peak_rss_bytes()),
                "stored_bytes": learner.stored_bytes(),
            },
        }

    def _score(self, question: Question) -> dict[str, Any]:
        matrix = self.matrix(question)
        return {
            **asdict(question),
            **{name: metric(matrix) for name, metric in METRICS.items()},
            "learning_curve": learning_curve(matrix),
            "matrix": matrix,
        }


def peak_rss_bytes() -> int:
    """The most memory this process has had at once; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

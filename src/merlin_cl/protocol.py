"""What streams and learners tell each other: all that a learner may know of a stream and of a task. Free of torch."""

from dataclasses import dataclass
from typing import Literal

View = Literal["class-incremental", "task-masked", "domain-incremental"]
Inference = Literal["aggregate", "aware", "marginal"]


@dataclass(frozen=True)
class StreamInfo:
    """What is known before the first task: the shape of an input, the size of the head, the number of tasks to expect."""

    name: str
    input_shape: tuple[int, ...]
    classes: int
    tasks: int
    domain_incremental: bool = False
    """Whether all tasks share one label space (new domains) rather than bringing new classes."""
    mirrored: bool = False
    """Whether a picture seen in a mirror shows the same class, as photographs do and digits do not."""

    @property
    def views(self) -> tuple[View, ...]:
        """The views under which predictions on this stream are scored."""
        return ("domain-incremental",) if self.domain_incremental else ("class-incremental", "task-masked")


@dataclass(frozen=True)
class TaskInfo:
    """What a learner is told when a task begins."""

    index: int
    classes: tuple[int, ...]
    """The labels that occur in this task, as positions in the head."""
    name: str = ""
    descriptor: tuple[float, ...] | None = None
    """A semantic task vector; None stands for the one-hot vector of the index."""

"""MERLIN's settings. Free of torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from merlin_cl.errors import UsageError
from merlin_cl.learners.ensemble_settings import EnsembleSettings
from merlin_cl.learners.search_space import Among, Space, Span
from merlin_cl.networks import worth_convolutions
from merlin_cl.protocol import StreamInfo

if TYPE_CHECKING:
    from merlin_cl.networks.network import Network

Consolidation = Literal["replay", "cut", "oldest"]
Start = Literal["psi_0", "consolidated", "shrunk"]
Descriptor = Literal["one-hot", "words", "task2vec"]


@dataclass(frozen=True)
class MerlinSettings(EnsembleSettings):
    """A distribution over the weights of small classifiers is learned task by task, consolidated, and sampled to answer.

    The preset `paper` is the method `merlin-paper`: the paper's recipe as printed.
    """

    method: ClassVar[str] = "merlin"
    learner: ClassVar[str] = "merlin_cl.learners.merlin.learner:Merlin"
    moved_presets: ClassVar[Mapping[str, str]] = {"paper": "merlin-paper"}
    space: ClassVar[Space] = {
        "learning_rate": Span(1e-3, 3e-2),
        "updates_per_batch": Among(5, 10, 20),
        "replay": Among(5, 10, 30),
        "noise": Among(0.0, 0.2, 0.35),
    }

    models: int = 12
    """Models that are sampled to answer (E): of every task, or, for `aggregate`, of all tasks together."""

    # Base models
    base_models: int = 6
    """Models that learn each task (B), each from a start of its own: the components of the task's prior."""
    updates_per_batch: int = 5
    """Gradient steps on each arriving batch."""
    learning_rate: float = 1e-2
    """Adam's learning rate for base models."""
    replay: int = 30
    """Exemplars of earlier tasks that each base model sees again with every arriving batch. They teach it to tell its task
    from earlier ones, which `marginal` inference uses. Where tasks share their classes, they do so as one more class of
    strangers."""
    rehearse: int = 30
    """Exemplars of its own task that each base model sees again with every arriving batch."""
    start: Start = "consolidated"
    """Where the base models of a task start: from psi_0, from the means of the prior of the task before (forward transfer), or
    from these shrunk towards psi_0, so that z does not grow from task to task and few values a number go on saying it."""

    noise: float = 0.2
    """How far z is varied at random in every update, in units of its size: base models learn to be good all around a point."""

    # The weight distribution
    latent: int = 8000
    """Numbers in z, about; never more than the classifier has weights. From 16,000 on, half as many for tasks that come when
    room has become short."""
    memory: int = 0
    """Kilobytes for the distributions of all tasks together, however many come; 0: those of one classifier in float32, and 64 at
    the least."""
    consolidation: Consolidation = "replay"
    """What happens when tasks no longer fit: the largest priors are made smaller and fitted to models replayed from them
    (`replay`), they are made smaller and no more (`cut`), or the oldest go (`oldest`)."""

    # What a task is called
    descriptor: Descriptor = "one-hot"
    """The task vector that the prior is a function of, unless the stream gives one: `one-hot`, the mean word vector of the
    class names (`words`), or an embedding that the learner computes from the task's exemplars (`task2vec`)."""
    words: str = ""
    """A file of word vectors in GloVe's text format (words): a path, or its name in a data folder; without it a usual one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "base_models", "updates_per_batch", "latent")
        self.require_at_least(0, "learning_rate", "replay", "rehearse", "noise", "memory")
        if self.words and self.descriptor != "words":
            raise UsageError(
                f"words is {self.words!r}, but descriptor is {self.descriptor}; use descriptor words with it."
            )

    @classmethod
    def untuned(cls, stream: StreamInfo) -> Self:
        """The settings on a stream without a search, by the kind of its tasks and inputs."""
        settings = super().untuned(stream)
        if stream.domain_incremental:
            return replace(settings, updates_per_batch=10, learning_rate=4e-3, replay=5, noise=0.35, start="psi_0")
        if (
            len(stream.input_shape) == 1
        ):  # of a table's columns a few examples a class tell more than the classes before do
            return replace(settings, updates_per_batch=10, start="psi_0")
        if worth_convolutions(stream.input_shape):
            return replace(
                settings,
                models=6,
                base_models=3,
                updates_per_batch=10,
                learning_rate=8e-3,
                replay=10,
                rehearse=10,
                start="shrunk",
                noise=0.0,
                latent=18_000,
                fine_tune_epochs=10,
            )
        return settings

    def located(self) -> Self:
        """With the full path of the file of word vectors, unless it is a name to look for in a data folder."""
        path = Path(self.words).expanduser()
        return replace(self, words=str(path.resolve())) if self.words and path.exists() else self

    def classifier(self, stream: StreamInfo) -> Network:
        """The network for a stream; where tasks share their classes and are to be told apart, with an output for strangers."""
        other_task = stream.domain_incremental and self.replay > 0
        return super().classifier(replace(stream, classes=stream.classes + other_task))

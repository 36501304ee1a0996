"""The one life cycle of every method.

    learner.begin(task)                      # index, classes, descriptor: all that a learner may know
    for x, y in batches: learner.observe(x, y)
    learner.end()
    logits = learner.logits(x, task=None)    # None: the task is not known; `probabilities` are their softmax
    state = learner.state(); learner.restore(state)
    learner.save(path); learner = Learner.load(path)

A method implements the hooks with a leading underscore. This class checks what comes in and what goes out, so that a method need
not: no answer holds a number that is not finite, and a method that diverges says so at the end of the task, or when it is asked.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import torch
from torch import Tensor

from merlin_cl.errors import DivergenceError, InputError, MerlinError, UsageError
from merlin_cl.learners.devices import usable_device
from merlin_cl.learners.divergence import (
    USUAL_INPUT,
    breakdown,
    divergence,
    is_breakdown,
    is_finite,
    require_computable,
)
from merlin_cl.learners.phases import Phases
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.learners.shortage import shortages_explained
from merlin_cl.learners.uncertainty import Members, Uncertainty
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo
from merlin_cl.randomness import generator
from merlin_cl.tensors import MASKED, State, copied, largest

Settings = TypeVar("Settings", bound=MethodSettings)
LOWEST = MASKED / 10
"""The lowest score that a class which may be answered is given."""
PREDICTION_BLOCK = 1000
"""Inputs predicted at once: bounds the memory that an ensemble's activations take."""


class Asked(NamedTuple):
    """What a learner can be asked about inputs."""

    task: int | None
    """Which task they come from; None: nobody knows."""
    inference: Inference | None
    """The mode to answer in; None: the method's first."""
    class_sets: Sequence[Iterable[int]]
    """V sets of classes to choose among, for V answers."""


class Learner(ABC, Generic[Settings]):
    """A method that learns from a stream of tasks, each example once.

    Made by its settings (`settings.build(stream, seed)`). `stream` is all that it knows of what will come, `seed` all that
    chance is drawn from, `device` where it computes. `tasks` are those begun so far, `seen` their classes.

    A method of one's own implements six hooks: `_begin(task)`, `_observe(x, y)` and `_end()` learn, `_answers(...)` scores,
    `_state()` and `_restore(state)` keep all that was learned. What they are given has been checked.
    """

    inferences: ClassVar[tuple[Inference | None, ...]] = (None,)
    """The inference modes the method offers; None where it has only one way to answer."""
    gives_probabilities: ClassVar[bool] = True
    """Whether softmax of its scores is what the method holds to be the probabilities of classes; False where scores only rank
    classes, as distances do."""

    def __init__(self, stream: StreamInfo, settings: Settings, seed: int, device: str = "cpu") -> None:
        self.stream = stream
        self.made_for = stream  # what was known at first; `stream` may have grown since
        self.settings = settings
        self.seed = seed
        self.device = usable_device(device)
        self.tasks: list[TaskInfo] = []  # every task begun, in order
        self.learning = False  # between begin and end
        self.phases = Phases()
        self.in_trial = False  # whether it only has to show that it works, with the least effort
        self.takes_bytes = False  # whether inputs arrived as bytes, for whoever reads it from a file
        self._largest_input = 0.0  # of those learned from since the learner was made, for what is said when it diverges

    # What a user calls

    def begin(self, task: TaskInfo) -> None:
        """A new task starts."""
        if self.learning:
            raise UsageError(f"Task {self.tasks[-1].index} has not ended; call end() before begin().")
        if task.index != len(self.tasks):
            raise UsageError(f"Task {task.index} cannot begin now; the next task is {len(self.tasks)}.")
        if task.index >= self.stream.tasks:
            raise UsageError(f"Task {task.index} is one too many: the learner was made for {self.stream.tasks} tasks.")
        if not task.classes:
            raise InputError(f"Task {task.index} has no classes.")
        self._check_classes(task.index, task.classes)
        self.tasks.append(task)
        self.learning = True
        with shortages_explained(self.settings, f"beginning task {task.index}"):
            self._begin(task)

    def admit(self, classes: Iterable[int]) -> None:
        """Classes turn up in the current task that it was not said to bring."""
        if not self.learning:
            raise UsageError("No task is being learned; call begin(task) before admit(classes).")
        task = self.tasks[-1]
        more = sorted(set(classes) - set(task.classes))
        self._check_classes(task.index, more)
        if more:
            self.tasks[-1] = replace(task, classes=(*task.classes, *more))
            self._admitted()

    def observe(self, x: Tensor, y: Tensor) -> None:
        """Examples of the current task arrive: x uint8 or float [N, *input_shape], y int64 [N]."""
        if not self.learning:
            raise UsageError("No task is being learned; call begin(task) before observe(x, y).")
        x = self._checked_inputs(x)
        y = self._checked_labels(y, len(x))
        if len(x):
            self.takes_bytes = x.dtype == torch.uint8
            self._largest_input = max(self._largest_input, largest(x))
            with self._breakdowns_explained(f"learning task {self.tasks[-1].index}"):
                self._observe(x, y)

    def end(self) -> None:
        """The current task is over."""
        if not self.learning:
            raise UsageError("No task is being learned; call begin(task) before end().")
        doing = f"learning task {self.tasks[-1].index}"
        self.require_finite(doing)  # before work is spent on it
        with self._breakdowns_explained(doing):
            self._end()
        self.require_finite(doing)
        self.learning = False

    def logits(
        self,
        x: Tensor,
        task: int | None = None,
        *,
        inference: Inference | None = None,
        class_sets: Sequence[Iterable[int]] | None = None,
    ) -> Tensor:
        """Scores of every class, [N, classes]; classes not seen yet have -1e10. Softmax makes them the method's probabilities
        where it `gives_probabilities`.

        `task` says which task the inputs come from, None that nobody knows. With `class_sets`, V sets of classes, the answer
        is [V, N, classes], each choosing among one set only (and the classes seen): several views for one pass.
        """
        answers = self.answers(x, [Asked(task, inference, [self.seen] if class_sets is None else class_sets)])[0]
        return answers[0] if class_sets is None else answers

    def answers(self, x: Tensor, questions: Sequence[Asked]) -> list[Tensor]:
        """What `logits` says to each of several questions about the same inputs, [V, N, classes] each.

        Asked together, a method may work out once what the questions have in common.
        """
        checked = [one._replace(inference=self._checked_question(one.task, one.inference)) for one in questions]
        x = self._checked_inputs(x)
        allowed = [self._allowed([set(group) & set(self.seen) for group in one.class_sets]) for one in checked]
        with self._breakdowns_explained("answering"):
            blocks = [self._answers_together(block, checked, allowed) for block in x.split(PREDICTION_BLOCK)]
        together = [torch.cat(parts, dim=1) for parts in zip(*blocks, strict=True)]
        self._require_finite_answers(x, *together)
        return [_above_masked(*one) for one in zip(together, allowed, strict=True)]

    def probabilities(self, x: Tensor, task: int | None = None, *, inference: Inference | None = None) -> Tensor:
        """The probability of every class, float64 [N, classes]; 0 for classes not seen yet, or not of the task where one is
        known. A known task is answered for in the mode `aware` if the method has it."""
        inference = self._checked_question(task, self.inference_for(task, inference))
        class_sets = [self.seen if task is None else self.tasks[task].classes]
        scores = self.logits(x, task, inference=inference, class_sets=class_sets)[0]
        return scores.double().softmax(dim=1)

    def inference_for(self, task: int | None, inference: Inference | None = None) -> Inference | None:
        """The mode to answer in: `aware` where the task is known and the method has that mode, otherwise the one asked for."""
        return "aware" if task is not None and "aware" in self.inferences else inference

    def uncertainty(self, x: Tensor, task: int | None = None, *, inference: Inference | None = None) -> Uncertainty:
        """How uncertain the answers to x are, [N] each: in all, of the data's own, and for want of knowledge."""
        inference = self._checked_question(task, inference)
        x = self._checked_inputs(x)
        with self._breakdowns_explained("answering"):
            members = (self._members(block, task, inference) for block in x.split(PREDICTION_BLOCK))
            uncertainty = Uncertainty.joined(map(Uncertainty.of, members))
        self._require_finite_answers(x, *uncertainty)
        return uncertainty

    def task_shares(self, x: Tensor, *, inference: Inference | None = None) -> Tensor | None:
        """How likely each input is to come from each task, float64 [N, tasks], for a method that weighs its tasks; else None."""
        inference = self._checked_question(None, inference)
        x = self._checked_inputs(x)
        with self._breakdowns_explained("answering"):
            shares = [self._task_shares(block, inference) for block in x.split(PREDICTION_BLOCK)]
        weighed = [part.double() for part in shares if part is not None]
        return torch.cat(weighed) if len(weighed) == len(shares) and weighed else None

    def ensemble(self, task: int | None = None, models: int | None = None) -> Bank:
        """The networks whose logits the answer is made of, for one task or for all; `models`: how many of them."""
        raise UsageError(f"{self.settings.method} does not answer by the logits of networks; it has none to give out.")

    def state(self) -> State:
        """All that is needed to go on: tensors and plain values, random state included."""
        return {
            "made_for": {"classes": self.made_for.classes, "tasks": self.made_for.tasks},
            "tasks": [asdict(task) for task in self.tasks],
            "learning": self.learning,
            "cpu_seconds": dict(self.phases.cpu_seconds),
            "method": copied(self._state()),  # what an optimiser of torch's gives goes on changing
        }

    def restore(self, state: State) -> None:
        """Become the learner that `state` was taken from (same stream, settings and seed)."""
        self.made_for = replace(self.stream, **state.get("made_for", {}))
        self.tasks = [_task_from(record) for record in state["tasks"]]
        self.learning = bool(state["learning"])
        self.phases.cpu_seconds = dict(state["cpu_seconds"])
        self._restore(copied(state["method"], self.device))  # and it takes tensors over as they are

    def save(self, path: str | Path) -> Path:
        """Write everything to one file, from which learning goes on as if it had never been saved; nothing is pickled."""
        from merlin_cl.learners.saving.saved import Inputs, SavedLearner

        classes, tasks = tuple(range(self.stream.classes)), tuple(range(len(self.tasks)))
        return SavedLearner(self, classes, tasks, Inputs(self.takes_bytes)).save(path)

    @classmethod
    def load(cls, path: str | Path, *, network: Any = None, features: Any = None, device: str = "cpu") -> Self:
        """The learner in a file, whoever saved it: `save`, an estimator or a run.

        `network` must be given if it is not one of this package, by name (`package.module:factory`: loading it runs it) or, where
        it was an object, as that: what a file holds is its name and checksum. With `features`, which must be given if it learned
        from any, the learner itself still takes the features, not the inputs.
        """
        from merlin_cl.learners.saving.saved import SavedLearner

        saved = SavedLearner.load(path, network=network, features=features, device=device)
        if not isinstance(saved.learner, cls):
            raise UsageError(f"{path} holds a learner of the method {saved.learner.settings.method}; use Learner.load.")
        saved.learner.takes_bytes = saved.inputs.bytes
        return saved.learner

    def grown(self, classes: int, tasks: int) -> Self:
        """A learner for more classes and tasks, which knows all that this one knows and answers as it does."""
        if classes < self.stream.classes or tasks < self.stream.tasks:
            raise UsageError(
                f"The learner has room for {self.stream.classes} classes and {self.stream.tasks} tasks; it cannot shrink to "
                f"{classes} and {tasks}."
            )
        wider: Self = self.settings.build(  # type: ignore[assignment]  # its settings build a learner of its own kind
            replace(self.stream, classes=classes, tasks=tasks), self.seed, str(self.device)
        )
        state = self.state()
        wider.made_for, wider.tasks, wider.learning = self.made_for, list(self.tasks), self.learning
        wider.restore({**state, "method": wider._widened(state["method"], self)})
        wider.phases, wider.in_trial = self.phases, self.in_trial
        return wider

    def require_finite(self, doing: str) -> None:
        """Refuse to go on with numbers that are not finite; `doing` says in which work they came up."""
        if not is_finite(self._state()):
            raise self._divergence(doing, "numbers that it has learned are no longer finite")

    def twin(self, state: State) -> Self:
        """Another learner, which goes on from a state of this one by itself."""
        twin: Self = self.settings.build(self.stream, self.seed, str(self.device))  # type: ignore[assignment]  # as in `grown`
        twin.restore(state)
        twin.phases.listener = self.phases.listener
        return twin

    @property
    def seen(self) -> list[int]:
        """The classes of all tasks begun so far, ascending."""
        return sorted({label for task in self.tasks for label in task.classes})

    @property
    def has_members(self) -> bool:
        """Whether several networks answer together, so that `uncertainty` can tell what they disagree on."""
        return type(self)._members is not Learner._members

    def stored_bytes(self) -> dict[str, int]:
        """What has to be kept between tasks, by kind; nothing at all means that the method does not state it."""
        return {}

    @property
    def reserved_bytes(self) -> int:
        """What it may come to keep beside `stored_bytes` of now and its exemplars, however many tasks come."""
        return 0

    def parameters(self) -> dict[str, int]:
        """Sizes that the paper reports, in numbers rather than bytes."""
        return {}

    # What a method implements

    @abstractmethod
    def _begin(self, task: TaskInfo) -> None:
        """Get ready for a task: its index, classes and descriptor are known, its examples are not; `tasks` has it already."""

    @abstractmethod
    def _observe(self, x: Tensor, y: Tensor) -> None:
        """Learn from examples, which come once: x uint8 or float32 [N, *input_shape], y int64 [N], N at least 1."""

    @abstractmethod
    def _end(self) -> None:
        """Finish the task: the last chance to do anything with it."""

    @abstractmethod
    def _answers(self, x: Tensor, allowed: Tensor, task: int | None, inference: Inference | None) -> Tensor:
        """Scores [V, N, classes] for the V sets of allowed classes in `allowed`, bool [V, classes]; -1e10 for the others.

        x as `_observe` has it. `task` is the inputs' task where it is known, `inference` one of the class's `inferences`.
        """

    def _answers_together(self, x: Tensor, questions: Sequence[Asked], allowed: Sequence[Tensor]) -> list[Tensor]:
        """The answers to several questions about the same inputs; a method whose answers share work may do it once."""
        return [self._answers(x, one, ask.task, ask.inference) for ask, one in zip(questions, allowed, strict=True)]

    @abstractmethod
    def _state(self) -> State:
        """All that the method has learned, random state included; its numbers are finite, or it has diverged.

        Nested dictionaries and lists of tensors (copies: `clone()`) and plain values; what `state_dict()` of a module or of an
        optimiser of `torch.optim` gives may be among them. It goes to checkpoints and saved files as it is.
        """

    @abstractmethod
    def _restore(self, state: State) -> None:
        """Take over what `_state()` gave, in a learner that is fresh; tuples have become lists."""

    def _members(self, x: Tensor, task: int | None, inference: Inference | None) -> Members:
        """What answers to x are made of, for a method that answers with several networks."""
        raise UsageError(
            f"{self.settings.method} answers with one network, which cannot tell what it does not know from what cannot be "
            "known; use a method with an ensemble, such as merlin or gdumb-ensemble."
        )

    def _task_shares(self, x: Tensor, inference: Inference | None) -> Tensor | None:
        """p(t | x), [N, tasks], for a method that weighs its tasks in this mode."""
        return None

    def _admitted(self) -> None:
        """The current task has more classes than when it began."""

    def _widened(self, state: State, narrow: Self) -> State:
        """What `narrow`, a learner for fewer classes or tasks, gave as its state, for this one to restore."""
        raise UsageError(
            f"{self.settings.method} cannot take more classes or tasks than it was made for ({narrow.stream.classes} and "
            f"{narrow.stream.tasks}); make it with room for all that will come."
        )

    # What a method may use

    def generator(self, *purpose: str | int) -> torch.Generator:
        """A random generator of its own for each purpose: what one part draws never changes what another part sees."""
        return generator(self.seed, *purpose)

    def _checked_question(self, task: int | None, inference: Inference | None) -> Inference | None:
        """The inference mode to answer in, once mode and task are known to be there."""
        inference = self.inferences[0] if inference is None else inference
        if inference not in self.inferences:
            known = [mode for mode in self.inferences if mode is not None]
            remedy = f"it has: {', '.join(known)}" if known else "it answers in one way only, so leave it out"
            raise UsageError(f"{self.settings.method} has no inference mode {inference!r}; {remedy}.")
        if task is not None and not 0 <= task < len(self.tasks):
            raise UsageError(f"Task {task} has not been seen; tasks 0 to {len(self.tasks) - 1} have.")
        return inference

    def _check_classes(self, task: int, classes: Sequence[int]) -> None:
        if not all(0 <= label < self.stream.classes for label in classes):
            raise InputError(
                f"Task {task} brings class {max(classes)}, but the head has {self.stream.classes} outputs "
                f"(0 to {self.stream.classes - 1}); make the learner with more classes."
            )

    def _require_finite_answers(self, x: Tensor, *answers: Tensor) -> None:
        if all(torch.isfinite(part).all() for part in answers):
            return
        if largest(x) > max(USUAL_INPUT, self._largest_input) and is_finite(self._state()):
            raise InputError(
                f"{self.settings.method} has no finite answer to inputs as large as {largest(x):.3g}; scale them as those "
                "that it has learned from."
            )
        raise self._divergence("answering", "its answers are not finite numbers")

    @contextmanager
    def _breakdowns_explained(self, doing: str) -> Iterator[None]:
        """Say in a sentence what happened where arithmetic breaks down, or anything does that is no longer given numbers."""
        try:
            with shortages_explained(self.settings, doing):
                yield
        except MerlinError:
            raise
        except Exception as error:
            if is_breakdown(error):
                raise self._divergence(doing, breakdown(error)) from error
            if not is_finite(self._state()):
                raise self._divergence(doing, "numbers that it has learned are no longer finite") from error
            raise

    def _divergence(self, doing: str, what: str) -> DivergenceError:
        return divergence(self.settings, doing, what, self._largest_input)

    def _checked_inputs(self, x: Tensor) -> Tensor:
        if tuple(x.shape[1:]) != self.stream.input_shape:
            raise InputError(
                f"Inputs have shape {tuple(x.shape)}; expected [N, {', '.join(map(str, self.stream.input_shape))}]."
            )
        if x.dtype != torch.uint8:
            if not x.is_floating_point():
                raise InputError(f"Inputs are {x.dtype}; give uint8 (0 to 255) or floating-point numbers.")
            require_computable(x)
            x = x.float()
        return x.to(self.device)

    def _checked_labels(self, y: Tensor, count: int) -> Tensor:
        if y.shape != (count,):
            raise InputError(f"Labels have shape {tuple(y.shape)}; expected one label for each of {count} inputs.")
        if y.dtype not in (torch.int64, torch.int32, torch.int16, torch.uint8):
            raise InputError(f"Labels are {y.dtype}; give integers.")
        strangers = sorted(set(y.tolist()) - set(self.tasks[-1].classes))
        if strangers:
            raise InputError(
                f"Label {strangers[0]} does not belong to task {self.tasks[-1].index}, "
                f"whose classes are {list(self.tasks[-1].classes)}."
            )
        return y.to(self.device, torch.int64)

    def _allowed(self, groups: Sequence[Iterable[int]]) -> Tensor:
        rows = [[False] * self.stream.classes for _ in groups]
        for row, group in zip(rows, groups, strict=True):
            for label in group:
                row[label] = True
        return torch.tensor(rows, dtype=torch.bool, device=self.device)


def _above_masked(answers: Tensor, allowed: Tensor) -> Tensor:
    """Scores [V, N, classes], those of inputs that score lower than a class which may not be answered moved up to zero.

    `allowed`, bool [V, classes]. Only the differences between an input's scores count, and of these the large ones alike.
    """
    choices = allowed.unsqueeze(1)
    low = answers.masked_fill(~choices, 0).amin(dim=-1, keepdim=True) < LOWEST  # [V, N, 1]
    if not low.any():
        return answers
    highest = answers.masked_fill(~choices, -torch.inf).amax(dim=-1, keepdim=True)
    return torch.where(low & choices, (answers - highest).clamp(min=LOWEST), answers)


def _task_from(record: dict[str, Any]) -> TaskInfo:
    descriptor = record["descriptor"]
    return TaskInfo(
        index=record["index"],
        classes=tuple(record["classes"]),
        name=record["name"],
        descriptor=None if descriptor is None else tuple(descriptor),
    )

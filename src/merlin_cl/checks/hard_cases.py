"""The part of the battery that tries to break a learner: one class, one example, equal inputs, very large and very small ones,
two hundred classes one by one, classes that come back, batches of one.

Whatever it was given, a learner answers with finite numbers, for classes it has seen, in every way it can be asked. Only inputs
of an unusual size may be refused, in a sentence. A check raises AssertionError and tells all that the learner was given.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from merlin_cl.errors import MerlinError, UsageError
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.protocol import StreamInfo, TaskInfo

INPUT_SHAPE = (2, 3)
SIZES = (1e-38, 1e-6, 1e4, 1e9, 1e15, 3e38)
"""What inputs of about 1 are multiplied by."""
MANY_CLASSES = 200
AT_ONCE = 10
"""Classes that room is made for at once, where a method can grow."""


def one_class_in_the_first_task(settings: MethodSettings) -> None:
    """A first task with a single class, where there is nothing to learn, does not spoil it or what comes after."""
    trial = HardCase(settings, classes=3, tasks=2)
    trial.learn((0,), _cloud([0] * 16))
    trial.ask()
    trial.learn((1, 2), _cloud([1, 2] * 8))
    trial.ask()


def one_example(settings: MethodSettings) -> None:
    """A task may have a single example, of one of its classes or of its only class."""
    trial = HardCase(settings, classes=4, tasks=3)
    for classes, labels in (((0, 1), [1]), ((2,), [2]), ((0, 3), [3])):
        trial.learn(classes, _cloud(labels))
        trial.ask()


def equal_inputs(settings: MethodSettings) -> None:
    """Inputs may all be zero, or the same, or a few that come again and again, whatever their labels."""
    labels = torch.tensor([0, 1] * 8)
    for constant in (0.0, 3.0):
        trial = HardCase(settings, classes=4, tasks=2)
        trial.learn((0, 1), (torch.full((16, *INPUT_SHAPE), constant), labels), f"all inputs {constant:g}")
        trial.ask()
        few, _ = _cloud([2, 3])
        trial.learn((2, 3), (few.repeat(8, 1, 1), labels + 2), "two inputs again and again")
        trial.ask()


def inputs_of_any_size(settings: MethodSettings) -> None:
    """With inputs very large or very small a learner answers with finite numbers, or says in a sentence that it cannot."""
    for size in SIZES:
        trial = HardCase(settings, classes=4, tasks=2, may_refuse=True)
        for classes in ((0, 1), (2, 3)):
            x, y = _cloud([*classes] * 8)
            trial.learn(classes, (x.double() * size, y), f"inputs about {size:g}")
            trial.ask(size)
    trial = HardCase(settings, classes=4, tasks=2)
    trial.learn((0, 1), _cloud([0, 1] * 8))
    trial.may_refuse = True
    trial.learn((2, 3), (torch.full((1, *INPUT_SHAPE), 3e38), torch.tensor([2])), "a row of 3e38")
    trial.ask()


def many_classes_one_by_one(settings: MethodSettings, classes: int = MANY_CLASSES) -> None:
    """Many tasks that bring one class each are taken: by growth, or announced at first where the method cannot grow."""
    if hasattr(settings, "exemplars"):
        wider: dict[str, Any] = {"exemplars": max(classes, settings.exemplars)}  # one for each class
        settings = replace(settings, **wider)
    for growing in (True, False):
        trial = HardCase(settings, *((1, 1) if growing else (classes, classes)))
        trial.say(f"{classes} tasks of one class each, {'room made as they came' if growing else 'announced at first'}")
        for label in range(classes):
            if growing and label % AT_ONCE == 1 and not trial.grow(min(label + AT_ONCE, classes)):
                break
            trial.learn((label,), _cloud([label] * 2), brief=True)
        else:
            break
    assert trial.learner.seen == list(range(classes)), trial.told(f"Only {len(trial.learner.seen)} classes were seen.")
    trial.ask()


def classes_that_come_back(settings: MethodSettings) -> None:
    """A class of an earlier task may come again in a later one, alone or beside new ones."""
    trial = HardCase(settings, classes=4, tasks=5)
    for classes in ((0, 1), (2,), (0,), (1, 3), (0, 1, 2, 3)):
        trial.learn(classes, _cloud([*classes] * 6))
        trial.ask()


def batches_of_one(settings: MethodSettings) -> None:
    """Examples may arrive, and be asked about, one by one."""
    trial = HardCase(settings, classes=4, tasks=2)
    for classes in ((0, 1), (2, 3)):
        x, y = _cloud([*classes] * 6)
        trial.learn(classes, (x, y), "one by one", batch=1)
        for example in x[:2]:
            trial.ask_about(example.unsqueeze(0))


def states_what_it_stores(settings: MethodSettings) -> None:
    """A learner says how many bytes it keeps between tasks, by kind; who says nothing is shown as `not stated`."""
    trial = HardCase(settings, classes=2, tasks=1)
    trial.learn((0, 1), _cloud([0, 1] * 8))
    stored = trial.learner.stored_bytes()
    assert stored, trial.told(
        "stored_bytes() names nothing; implement it, as in {'exemplars': 1200, 'classifier': 4000}."
    )
    for kind, count in stored.items():
        assert isinstance(count, int), trial.told(
            f"stored_bytes() has {count!r} bytes of {kind}, which is no whole number."
        )
        assert count >= 0, trial.told(f"stored_bytes() has {count} bytes of {kind}, which is less than none.")


HARD_CASES: list[Callable[[MethodSettings], None]] = [
    one_class_in_the_first_task,
    one_example,
    equal_inputs,
    inputs_of_any_size,
    many_classes_one_by_one,
    classes_that_come_back,
    batches_of_one,
    states_what_it_stores,
]


class HardCase:
    """A learner under trial, and the story of what it was given, which every complaint tells."""

    def __init__(self, settings: MethodSettings, classes: int, tasks: int, may_refuse: bool = False) -> None:
        stream = StreamInfo("hard cases", INPUT_SHAPE, classes, tasks)
        self.learner: Learner[Any] = settings.build(stream, seed=3)
        self.may_refuse = may_refuse
        self.refused = False
        self._story: list[str] = []

    def learn(
        self,
        classes: tuple[int, ...],
        examples: tuple[Tensor, Tensor],
        how: str = "",
        batch: int = 8,
        brief: bool = False,
    ) -> None:
        """Give a task to the learner, and ask it within the task; all of it stays out of the story where it is brief."""
        index, (x, y) = len(self.learner.tasks), examples
        if not brief:
            kinds = f"class{'es' if len(classes) > 1 else ''} {', '.join(map(str, classes))}"
            self.say(f"task {index} with {kinds}, {len(y)} example{'s' * (len(y) > 1)}{how and f' ({how})'}")

        def learn() -> None:
            self.learner.begin(TaskInfo(index, classes))
            for at, (some_x, some_y) in enumerate(zip(x.split(batch), y.split(batch), strict=True)):
                self.learner.observe(some_x, some_y)
                if at == 0 and not brief:
                    self._ask_in_every_way(x[:2])
            self.learner.end()

        self._attempt(learn)

    def ask(self, size: float = 1.0) -> None:
        """Ask about inputs of every class seen, about nothing, and about something far away."""
        x, _ = _cloud(self.learner.seen)
        far = 100 * torch.ones(1, *INPUT_SHAPE)
        self.ask_about(torch.cat([x, torch.zeros_like(far), far]).double() * size)

    def ask_about(self, x: Tensor) -> None:
        """Ask in every way the learner offers."""
        self._attempt(lambda: self._ask_in_every_way(x))

    def grow(self, count: int) -> bool:
        """Make room for so many classes and tasks; False where the method cannot."""
        try:
            self.learner = self.learner.grown(count, count)
        except MerlinError as refusal:
            self._require_sentence(refusal)
            return False
        return True

    def say(self, event: str) -> None:
        """Add to the story."""
        self._story.append(event)

    def told(self, complaint: str) -> str:
        """A complaint with the story of what led to it."""
        return f"{complaint} The learner was given: {'; '.join(self._story)}."

    def _attempt(self, step: Callable[[], None]) -> None:
        if self.refused:
            return
        try:
            step()
        except MerlinError as refusal:
            self._require_sentence(refusal)
            self.refused = self.may_refuse
            if not self.may_refuse:
                complaint = self.told(f"It refused what a learner has to take: {refusal}")
                raise AssertionError(complaint) from refusal
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(
                self.told(f"It failed with {type(error).__name__} ({error}), not a sentence.")
            ) from error

    def _ask_in_every_way(self, x: Tensor) -> None:
        learner, seen = self.learner, torch.tensor(self.learner.seen)
        for inference in learner.inferences:
            for task in dict.fromkeys([0, len(learner.tasks) - 1]) if inference == "aware" else [None]:
                way = f"(inference {inference}, task {task})"
                logits = learner.logits(x, task, inference=inference)
                self._require_finite(logits, f"scores {way}")
                assert torch.isin(logits.argmax(dim=1), seen).all(), self.told(f"A class not seen is answered {way}.")
                self._require_finite(learner.probabilities(x, task, inference=inference), f"probabilities {way}")
                try:
                    parts = learner.uncertainty(x, task, inference=inference)
                except UsageError:  # it has no members to ask
                    continue
                for part, values in parts._asdict().items():
                    self._require_finite(values, f"{part} uncertainties {way}")

    def _require_finite(self, values: Tensor, name: str) -> None:
        broken = int((~torch.isfinite(values)).sum())
        assert broken == 0, self.told(f"{broken} of {values.numel()} {name} are not finite numbers.")

    def _require_sentence(self, refusal: MerlinError) -> None:
        assert str(refusal).endswith((".", "?")), self.told(f"A refusal is not a sentence: {refusal}")


def _cloud(labels: Iterable[int]) -> tuple[Tensor, Tensor]:
    """Examples with these labels, those of a class near each other and away from others."""
    y = torch.tensor(list(labels))
    draws = torch.Generator().manual_seed(7)
    centres = 2 * torch.randn(MANY_CLASSES, *INPUT_SHAPE, generator=draws)
    return centres[y % MANY_CLASSES] + 0.3 * torch.randn(len(y), *INPUT_SHAPE, generator=draws), y

"""MERLIN, or any method of this package, in a loop that is written for Avalanche's strategies."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from merlin_cl.errors import InputError, UsageError
from merlin_cl.estimator.classifier import ContinualClassifier

READ_AT_ONCE = 1000
"""Examples that are held in memory while an experience is learned or scored."""


class AvalancheStrategy:
    """What such a loop needs: `train(experience)` and `eval(stream)`.

    It is no subclass of Avalanche's templates, which assume one model and one optimiser, and plugins have no place in it: the
    method is all in the classifier, which stays the user's and can be saved, asked and exported.

    Parameters
    ----------
    classifier : what learns. Every experience is a task, and so are all parts of one in an online stream that tells where they
        begin; with `boundaries` other than "told", the classifier divides the stream by itself.
    task_aware : whether answers may use the task labels of the experiences that are scored.
    as_bytes : whether inputs, numbers from 0 to 1, are kept as bytes: exemplars then take a quarter of the memory.
    seed : of the order in which the examples of an experience are learned.
    """

    def __init__(
        self, classifier: ContinualClassifier, *, task_aware: bool = False, as_bytes: bool = False, seed: int = 0
    ) -> None:
        if task_aware and classifier.boundaries != "told":
            raise UsageError(
                f"task_aware needs tasks that are told, but the classifier's boundaries are {classifier.boundaries!r}."
            )
        self.classifier = classifier
        self.task_aware = task_aware
        self.as_bytes = as_bytes
        self._order = torch.Generator().manual_seed(seed)
        self._tasks: dict[int, set[Any]] = {}  # the classifier's tasks by Avalanche's label
        self._parts = 0  # of the current task, that were learned

    def train(self, experiences: Any, *, num_workers: int = 0) -> None:
        """Learn an experience, or several one after the other, each example once, in random order."""
        for experience in _each(experiences):
            # As a strategy of Avalanche's sees it: what a stream hides from learners stays hidden.
            self._learn(experience.train() if hasattr(experience, "train") else experience, num_workers)

    def eval(self, experiences: Any, *, num_workers: int = 0) -> dict[str, float]:
        """Accuracies from 0 to 1 by the names that Avalanche gives them: of every experience, and of all of a task label."""
        figures: dict[str, float] = {}
        totals: dict[str, list[int]] = {}
        for experience in _each(experiences):
            label = _task_label(experience)
            task = self._task_of(label) if self.task_aware else None
            right = count = 0
            for x, y in self._read(experience.dataset, num_workers):
                right += int((self.classifier.predict(x, task) == y).sum())
                count += len(y)
            place = f"eval_phase/{_stream_name(experience)}_stream/Task{label or 0:03}"
            figures[f"Top1_Acc_Exp/{place}/Exp{experience.current_experience:03}"] = right / count
            total = totals.setdefault(f"Top1_Acc_Stream/{place}", [0, 0])
            total[:] = total[0] + right, total[1] + count
        return figures | {name: right / count for name, (right, count) in totals.items()}

    def _learn(self, experience: Any, num_workers: int) -> None:
        told = self.classifier.boundaries == "told"
        begins, ends = self._boundaries(experience) if told else (False, False)
        if begins and self.classifier.__sklearn_is_fitted__():
            self.classifier.end_task()
        for x, y in self._read(experience.dataset, num_workers, self._order):
            self.classifier.partial_fit(x, y)
        if told and (label := _task_label(experience)) is not None:
            self._tasks.setdefault(label, set()).add(self.classifier.visits_[-1])
        if ends:
            self.classifier.end_task()

    def _boundaries(self, experience: Any) -> tuple[bool, bool]:
        """Whether a task begins with an experience, and whether it ends with it: both, but for the parts of an online stream."""
        try:
            begins = bool(getattr(experience, "is_first_subexp", True))
            last = bool(getattr(experience, "is_last_subexp", True))
            parts = getattr(experience, "sub_stream_length", None)
        except ValueError as error:  # Avalanche's MaskedAttributeError
            raise UsageError(
                "This online stream hides where its tasks begin; make it with access_task_boundaries=True, or give a "
                "classifier with boundaries='detected'."
            ) from error
        self._parts = 1 if begins else self._parts + 1
        # Avalanche calls no part the last where all parts are of one size; their number tells as well.
        return begins, last or self._parts == parts

    def _read(
        self, dataset: Any, num_workers: int, order: torch.Generator | None = None
    ) -> Iterator[tuple[Tensor, np.ndarray[Any, Any]]]:
        """Inputs and labels, as many as fit in memory at once; in a random order, if one is given."""
        loader: DataLoader[Any] = DataLoader(
            dataset, READ_AT_ONCE, shuffle=order is not None, generator=order, num_workers=num_workers
        )
        for x, y, *_ in loader:
            yield _in_bytes(x) if self.as_bytes else x, y.numpy()

    def _task_of(self, label: int | None) -> Any:
        tasks = self._tasks.get(label, set()) if label is not None else set()
        if len(tasks) != 1:
            raise UsageError(
                f"The task label {label} stands for {len(tasks)} tasks learned so far; score only what was learned, with a label "
                "of its own for every task, or leave task_aware out."
            )
        return next(iter(tasks))


def _each(experiences: Any) -> Iterable[Any]:
    return [experiences] if hasattr(experiences, "dataset") else experiences


def _task_label(experience: Any) -> int | None:
    """That of an experience, or of the one that it is a part of; None where there is none."""
    for one in (experience, getattr(experience, "origin_experience", None)):
        label = getattr(one, "task_label", None)
        if label is not None:
            return int(label)
    return None


def _stream_name(experience: Any) -> str:
    return str(getattr(experience.origin_stream, "name", "test"))


def _in_bytes(x: Tensor) -> Tensor:
    if x.dtype == torch.uint8:
        return x
    if x.min() < 0 or x.max() > 1:
        raise InputError(
            f"Inputs go from {float(x.min()):.3g} to {float(x.max()):.3g}; to be kept as bytes they must lie between 0 and 1; "
            "leave as_bytes out, or the normalisation."
        )
    return (x * 255).round().to(torch.uint8)

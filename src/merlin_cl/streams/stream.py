"""A stream is a sequence of tasks; a task gives each of its training examples once and its test set as often as asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import torch
from torch import Tensor

from merlin_cl.errors import InputError, UsageError
from merlin_cl.inputs.encoding import TableEncoding
from merlin_cl.inputs.filling import ColumnMeans
from merlin_cl.inputs.standardisation import Standardisation
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.streams.settings.user_data import Missing, OwnOptions

if TYPE_CHECKING:
    from merlin_cl.features import FeaturesNote

Transform = Callable[[Tensor], Tensor]
"""What a task does to its inputs: uint8 [n, *input_shape] to the same."""


class ExampleTakenTwiceError(UsageError):
    """A task was asked a second time for its training examples."""


@dataclass(frozen=True)
class Pool:
    """Examples that several tasks draw from: one copy of the inputs, however many tasks there are."""

    x: Tensor  # uint8 [N, *input_shape]
    y: Tensor  # int64 [N]

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Selection:
    """Some examples of a pool, as a task shows them. Nothing is copied or transformed before `gather`."""

    pool: Pool
    at: Tensor  # int64 [n], positions in the pool
    transform: Transform | None = None

    def __len__(self) -> int:
        return len(self.at)

    def gather(self) -> tuple[Tensor, Tensor]:
        """The examples themselves: x uint8 [n, *input_shape], y int64 [n]."""
        x, y = self.pool.x.index_select(0, self.at), self.pool.y.index_select(0, self.at)
        return x if self.transform is None else self.transform(x), y


class Task:
    """One task of a stream: what a learner may know of it, its training examples, its test set."""

    def __init__(self, info: TaskInfo, train: Selection, test: Selection, order: torch.Generator) -> None:
        """`order` shuffles the training examples; a generator of the task's own, so that no task depends on another."""
        self.info = info
        self.train_count = len(train)
        self.test_count = len(test)
        self.order = order
        self.scored = test
        self._train: Selection | None = train

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The training examples, shuffled, `size` at a time (the last batch may be smaller). Can be called once."""
        if size < 1:
            raise UsageError(f"The batch size is {size}; it must be at least 1.")
        return self._given_out(self.unlearned(), size)

    def unlearned(self) -> Selection:
        """Its training examples, for another stream to be made of: as with `batches`, nobody else gets them."""
        if self._train is None:
            raise ExampleTakenTwiceError(
                f"The training examples of task {self.info.index} have been given out; each arrives once. "
                "Build the stream again to start over."
            )
        train, self._train = self._train, None
        return train

    def test(self) -> tuple[Tensor, Tensor]:
        """The examples the task is scored on: x uint8 [n, *input_shape], y int64 [n]."""
        return self.scored.gather()

    def test_sample(self, count: int) -> Tensor:
        """At most `count` inputs of the test set, spread evenly over it: x uint8 [n, *input_shape]."""
        at = torch.linspace(0, len(self.scored) - 1, min(count, len(self.scored))).long()
        return replace(self.scored, at=self.scored.at[at]).gather()[0]

    def shown(self, x: Tensor) -> Tensor:
        """Inputs that are not the task's own, as the task would show them."""
        return x if self.scored.transform is None or not len(x) else self.scored.transform(x)

    def _given_out(self, train: Selection, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        x, y = train.gather()
        for at in torch.randperm(len(y), generator=self.order).split(size):
            # index_select rather than x[at]: twice as fast, and it does not wake other threads for ten images.
            yield x.index_select(0, at), y.index_select(0, at)


class Stream:
    """Tasks in the order in which they are learned, each with a test set of its own.

    Scikit-learn's digits, two new ones a task:

    >>> from sklearn.datasets import load_digits
    >>> from merlin_cl import Stream, run
    >>> x, y = load_digits(return_X_y=True)
    >>> stream = Stream.from_arrays(x / 16, y, tasks=5)
    >>> stream.info.tasks, stream.info.classes, stream[0].info.classes, stream[0].train_count
    (5, 10, (0, 1), 288)
    >>> f"{run(stream, 'slda').final_accuracy:.0f} %"
    '97 %'
    """

    def __init__(
        self,
        info: StreamInfo,
        tasks: Sequence[Task],
        source: str = "",
        class_names: Sequence[str] = (),
        fingerprint: str = "",
        place: str = "",
        other: Mapping[str, Callable[[int], Tensor]] | None = None,
    ) -> None:
        """`source` says in words which data these are and `fingerprint` is their checksum: results record both, and moving
        the data changes neither. `place` says where they are. `class_names` are those of the head, in its order. `other`
        has, by name, what reads at most so many inputs of another kind, [n, *input_shape]: nothing is learned from them, but
        a learner is asked at the end whether it knows that it does not know them."""
        if [task.info.index for task in tasks] != list(range(info.tasks)):
            raise UsageError(
                f"{info.name} announces {info.tasks} tasks, but was given tasks {[task.info.index for task in tasks]}; "
                "give every task once, in order."
            )
        self._check_examples(info, tasks)
        self._check_classes(info, tasks)
        self.info = info
        self.source = source
        self.fingerprint = fingerprint
        self.place = place
        self.other = dict(other or {})
        self.class_names = tuple(class_names)
        self.columns: tuple[str, ...] = ()  # of a table
        self.standardisation: Standardisation | None = None  # what its numbers were standardised by
        self.encoding: TableEncoding | None = None  # how texts became these numbers
        self.means: ColumnMeans | None = None  # what numbers that were missing were filled in with
        self.features: FeaturesNote | None = None  # of which these are the numbers
        self._tasks = tuple(tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks)

    def __getitem__(self, index: int) -> Task:
        return self._tasks[index]

    def in_features(self, features: Any, *, scale: bool = True) -> "Stream":
        """The same stream with features in the place of its inputs; this one's training examples are given away.

        `features` is a `torch.nn.Module`, a function, a fitted transformer, the path of an .onnx file, a name, or `Features`.
        """
        from merlin_cl.features import Features
        from merlin_cl.streams.in_features import in_features

        return in_features(self, Features.of(features), scale)

    # Streams of a user's own data; `options` are those of `OwnSettings`, and docs/own-data.md explains them.

    @staticmethod
    def from_arrays(
        x: Any,
        y: Any,
        tasks: Any = None,
        *,
        test: Sequence[Any] | None = None,
        standardise: bool = False,
        seed: int = 0,
        name: str = "arrays",
        **options: Unpack[OwnOptions],
    ) -> "Stream":
        """From inputs x [N, ...], or texts, and labels y [N]. `tasks`: a number to divide the classes into, the classes
        of each task as lists, or a task for each example. `test`: (x, y), or (x, y, tasks) with a task for each example."""
        from merlin_cl.streams import constructors

        return constructors.from_arrays(x, y, tasks, test, standardise, seed, name, options)

    @staticmethod
    def from_folder(
        path: str | Path,
        tasks: Any = None,
        *,
        image_size: int = 0,
        seed: int = 0,
        name: str = "",
        **options: Unpack[OwnOptions],
    ) -> "Stream":
        """From images as class/image or task/class/image. `tasks` for the former: a number, or the classes of each task."""
        from merlin_cl.streams import constructors

        return constructors.from_folder(path, tasks, image_size, seed, name, options)

    @staticmethod
    def from_table(
        table: Any,
        label: str = "label",
        *,
        task: str = "",
        tasks: Any = None,
        part: str = "",
        columns: Sequence[str] = (),
        drop: Sequence[str] = (),
        text: str = "",
        test: Any = None,
        standardise: bool = True,
        categories: Sequence[str] = (),
        missing: Missing = "refuse",
        seed: int = 0,
        name: str = "",
        **options: Unpack[OwnOptions],
    ) -> "Stream":
        """From a CSV or Parquet file or a data frame with a column `label`. Tasks: a column `task`, or `tasks` as a number or
        the classes of each. To test on: another table `test`, or a column `part` that says `train` or `test`. `text` is a column
        of texts to learn from, by means of `features`; `categories` are columns whose texts are categories. Numbers that are
        `missing` are refused, or the mean of the first task's takes their place."""
        from merlin_cl.streams import constructors

        chosen = (label, task, part, tuple(columns), tuple(drop), text)
        kinds = (standardise, tuple(categories), missing)
        return constructors.from_table(table, test, chosen, tasks, kinds, seed, name, options)

    @staticmethod
    def from_huggingface(
        dataset: Any,
        label: str = "label",
        *,
        task: str = "",
        tasks: Any = None,
        columns: Sequence[str] = (),
        image_size: int = 0,
        standardise: bool = True,
        seed: int = 0,
        name: str = "",
        **options: Unpack[OwnOptions],
    ) -> "Stream":
        """From a `datasets.Dataset`, a `DatasetDict` with parts train and test, or the folder that one was saved to."""
        from merlin_cl.streams import constructors

        chosen = (label, task, tuple(columns), image_size, standardise)
        return constructors.from_huggingface(dataset, chosen, tasks, seed, name, options)

    @staticmethod
    def from_iterable(
        examples: Iterable[Any],
        tasks: Any = None,
        *,
        test: Iterable[Any] | None = None,
        standardise: bool = False,
        seed: int = 0,
        name: str = "iterable",
        **options: Unpack[OwnOptions],
    ) -> "Stream":
        """From (x, y, task) after (x, y, task), tasks in the order in which they are met; or from (x, y) and `tasks` as a
        number or the classes of each. All are read into memory before the first task."""
        from merlin_cl.streams import constructors

        return constructors.from_iterable(examples, tasks, test, standardise, seed, name, options)

    @staticmethod
    def _check_examples(info: StreamInfo, tasks: Sequence[Task]) -> None:
        for task in tasks:
            for count, kind in ((task.train_count, "training"), (task.test_count, "test")):
                if not count:
                    raise InputError(
                        f"Task {task.info.index} of {info.name} has no {kind} examples; give it some or drop it."
                    )

    @staticmethod
    def _check_classes(info: StreamInfo, tasks: Sequence[Task]) -> None:
        owner: dict[int, int] = {}
        for index, label in ((task.info.index, label) for task in tasks for label in task.info.classes):
            if not 0 <= label < info.classes:
                raise InputError(
                    f"Task {index} of {info.name} has class {label}, but classes are 0 to {info.classes - 1}; "
                    "number them from zero."
                )
            if not info.domain_incremental and owner.setdefault(label, index) != index:
                raise InputError(
                    f"Class {label} of {info.name} is in task {owner[label]} and again in task {index}; give each class to "
                    "one task, or make the stream domain-incremental."
                )

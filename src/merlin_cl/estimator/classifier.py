"""Any method behind scikit-learn's conventions: it learns from what arrives, task after task, and answers at any time."""

import itertools
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from merlin_cl.errors import UsageError, unknown
from merlin_cl.estimator.auto import Advice, advised
from merlin_cl.estimator.boundaries import Boundaries, Divider, divider
from merlin_cl.estimator.calibration import HeldExamples
from merlin_cl.estimator.explaining import Explaining
from merlin_cl.estimator.export import Exportable, TaskName
from merlin_cl.estimator.inputs import Array, InputForm, checked_inputs, checked_labels, checked_weights
from merlin_cl.estimator.labels import Labels, of_one_kind
from merlin_cl.estimator.persistence import CARRY, restored, to_saved
from merlin_cl.estimator.refusing import Refusing, refused
from merlin_cl.estimator.snapshots import SharedByThreads, Snapshot
from merlin_cl.features import Features, FeaturesNote
from merlin_cl.features.raw import RawForm, as_raw
from merlin_cl.inputs.encoding import TableEncoding
from merlin_cl.inputs.filling import ColumnMeans
from merlin_cl.inputs.standardisation import Moments, Standardisation
from merlin_cl.learners.divergence import require_computable
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.registry import preset_kind
from merlin_cl.learners.saving.saved import SavedLearner
from merlin_cl.learners.setting_values import fitting, hints_of
from merlin_cl.learners.settings import MethodSettings
from merlin_cl.networks.given import network_name
from merlin_cl.protocol import Inference, StreamInfo, TaskInfo

FAR_APART = 100.0
"""How many times as large one column's numbers may be as another's before a user who does not standardise is warned."""
LEAST_DEVIATION = 0.3
"""The least deviation of a column, as a share of its mean: the first task may have but one class."""


class UncertaintyParts(NamedTuple):
    """How uncertain answers are, in nats, [N] each: `total` is the sum of the other two."""

    total: Array
    aleatoric: Array
    epistemic: Array


class ContinualClassifier(SharedByThreads, Refusing, Explaining, Exportable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A method of this package as a classifier that goes on learning.

    Parameters
    ----------
    method : the method's name, as `merlin run --help` has it: "merlin", "er", "der++", ...; or "auto", which chooses at the first
        call by kind and size of inputs, scenario and budget (`choice_` says what and why).
    preset : where the method's settings start from.
    settings : single settings of the method that differ from the preset's, by name.
    scenario : "class-incremental" where tasks bring new classes, "domain-incremental" where they bring the same ones in a new
        guise.
    boundaries : where a task ends: "told" (by `task` or `end_task`), "detected" (the stream is watched for changes), or a number
        of examples.
    expected_tasks : how many tasks are likely to come. More may; methods that share out their memory do so for this many.
    batch_size : examples that are learned from at once.
    inference : how the method answers where the task is not known, if it has several ways; None: its first.
    standardise : whether to bring every column to mean 0 and variance 1, by the examples of the first call, or of the first calls
        if they are few; None: only those of tables whose units differ by more than tenfold, or whose numbers are large. Features
        then have one scale for all.
    missing : what to do with NaN, and with empty places in a table: "refuse", or put the "mean" of what was learned so far there.
    budget : kilobytes that what "auto" chooses may keep between tasks; None: any number.
    calibration : how many examples to hold back, at most one in five of those that arrive, rather than learn them: `predict_set`
        and `novelty` rest on them.
    features : what to learn from in place of X itself: a `torch.nn.Module`, a function, a fitted transformer, an object with
        `encode`, the path of an .onnx file, a name ("minilm", "efficientnet-lite0", "hashing", "package.module:factory"), or
        `merlin_cl.features.Features` of one of these. With them X may be a list of texts.
    random_state : seed of all that is random.
    device : where to compute, as torch calls it, or "auto": a GPU where there is one.

    Threads may ask while one of them teaches. An answer (`predict`, `predict_proba`, `uncertainty`, `save`, ...) comes from what
    the last learning call that was done left behind, whole, and never waits for one that goes on. Learning calls (`fit`,
    `partial_fit`, `end_task`) take turns; where there are other threads, one that fails leaves everything as it was.

    Attributes
    ----------
    classes_ : all labels met or announced so far, sorted; the columns of `predict_proba`.
    tasks_ : the names of all tasks met so far, in the order in which they first came; tasks without a name are called by their
        number.
    visits_ : the name of each task that the learner has begun, in order: a task that comes back is there again.
    learner_ : the learner inside.
    choice_ : the method that answers, and why where "auto" chose it.
    """

    _method_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters of a subclass that are settings of its method; None stands for the preset's value."""

    def __init__(
        self,
        method: str = "merlin",
        *,
        preset: str = "default",
        settings: Mapping[str, Any] | None = None,
        scenario: Literal["class-incremental", "domain-incremental"] = "class-incremental",
        boundaries: Boundaries = "told",
        expected_tasks: int = 10,
        batch_size: int = 10,
        inference: Inference | None = None,
        standardise: bool | None = None,
        missing: Literal["refuse", "mean"] = "refuse",
        budget: int | None = None,
        calibration: int = 0,
        features: Any = None,
        random_state: int | np.random.RandomState | None = 0,
        device: str = "cpu",
    ) -> None:
        self.method = method
        self.preset = preset
        self.settings = settings
        self.scenario = scenario
        self.boundaries = boundaries
        self.expected_tasks = expected_tasks
        self.batch_size = batch_size
        self.inference = inference
        self.standardise = standardise
        self.missing = missing
        self.budget = budget
        self.calibration = calibration
        self.features = features
        self.random_state = random_state
        self.device = device

    classes_: Array
    visits_: list[TaskName]
    learner_: Learner[Any]
    _labels: Labels
    _form: InputForm
    _note: FeaturesNote | None = None
    _standardisation: Standardisation | None
    _encoding: TableEncoding | None  # of a table with texts
    _means: ColumnMeans | None  # what fills in missing numbers
    _carry: float  # what weights of examples have left over
    _moments: Moments | None  # those that the standardisation rests on, until it is settled
    _divider: Divider
    _calibration: HeldExamples
    _answers_to_held: dict[tuple[int, ...], Tensor]

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn X, y in one pass: as one task in random order, or, where boundaries are not told, as a
        stream in the order given. `sample_weight` as in `partial_fit`."""
        with self._teaching(anew=True) as model:
            x, y = model._taken(X, y, None, True, sample_weight)
            if model.boundaries == "told":
                order = torch.randperm(len(y), generator=torch.Generator().manual_seed(model.learner_.seed))
                x, y = x[order], y[order]
            model._learn(x, y, name=None)
            model._end()
        return self

    def partial_fit(
        self, X: Any, y: Any, task: TaskName | None = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from examples X, y as they arrive, in the order given, each once.

        `task` says which task they belong to; another one than the last ends that. Without it they belong to the current task.
        A task that has ended may come back: winter, summer, winter.
        `classes` announces labels to come: never needed, except for methods whose head cannot grow.
        `sample_weight` says what each example counts for: one of weight 2 is learned twice, of those of weight 0.5 every other.
        """
        with self._teaching() as model:
            first = not model.__sklearn_is_fitted__()
            another = model._is_another(task, first)
            x, y = model._taken(X, y, classes, first, sample_weight)
            if another:
                model._end()
            model._learn(x, y, task)
        return self

    def end_task(self) -> Self:
        """The current task is over; what comes next belongs to another. Without a current task nothing happens."""
        check_is_fitted(self)
        if self.learner_.learning:
            with self._teaching() as model:
                model._end()
        return self

    @property
    def task_classes_(self) -> dict[TaskName, Array]:
        """The labels that every task has had, sorted."""
        with self._answering() as snapshot:
            model = snapshot.model
            outputs: dict[TaskName, set[int]] = {}
            for name, task in zip(model.visits_, model.learner_.tasks, strict=True):
                outputs.setdefault(name, set()).update(task.classes)
            return {name: np.sort(model._labels.by_output[sorted(some)]) for name, some in outputs.items()}

    @property
    def tasks_(self) -> list[TaskName]:
        """The names of all tasks, each once."""
        return list(dict.fromkeys(self.visits_))

    # Answering

    def predict(self, X: Any, task: TaskName | None = None, *, reject: float | None = None) -> Array:
        """The label of each input; with `task`, that of inputs which are known to belong to it.

        With `reject`, an answer that is less probable than this is refused: there is None in its place.
        """
        probabilities, classes = self._probabilities(X, task)
        labels = np.asarray(classes[probabilities.argmax(axis=1)])
        return labels if reject is None else refused(labels, probabilities.max(axis=1), reject)

    def predict_proba(self, X: Any, task: TaskName | None = None) -> Array:
        """The probability of each class, [N, classes], in the order of `classes_`; 0 for classes not met yet."""
        return self._probabilities(X, task)[0]

    def _probabilities(self, X: Any, task: TaskName | None) -> tuple[Array, Array]:
        """The same, and the classes that they are of: both from one snapshot."""
        with self._answering() as snapshot:
            model = snapshot.model
            x, visits = model._asked(X), model._visits(task)
            self._make_ready(snapshot, *visits)
            probabilities = model._answers(x, visits, self.inference)
            return np.asarray(probabilities.cpu().numpy()[:, model._labels.order]), model.classes_

    def score(self, X: Any, y: Any, sample_weight: Any = None, task: TaskName | None = None) -> float:
        """The share of labels answered right."""
        return float(accuracy_score(checked_labels(y, len(X)), self.predict(X, task), sample_weight=sample_weight))

    def uncertainty(self, X: Any, task: TaskName | None = None) -> UncertaintyParts:
        """How uncertain each answer is, in nats: `total`, the entropy of what the ensemble says, or of what every task's says on
        average; of it `aleatoric`, what members agree cannot be known; and `epistemic`, what they disagree on and more data
        would settle."""
        with self._answering() as snapshot:
            model = snapshot.model
            x, index = model._asked(X), model._index(task)
            inference = model.learner_.inference_for(index, self.inference)
            self._make_ready(snapshot, index)
            uncertainty = model.learner_.uncertainty(x, index, inference=inference)
            return UncertaintyParts(*(part.cpu().numpy() for part in uncertainty))

    def prepare(self, task: TaskName | None = None) -> Self:
        """Make ready what answers, so that the next prediction is one pass; a prediction does so by itself when needed."""
        with self._answering() as snapshot:
            model = snapshot.model
            index = model._index(task)
            self._make_ready(snapshot, index)
            model.learner_.probabilities(model._form.blank(), index, inference=self.inference)
        return self

    def _make_ready(self, snapshot: Snapshot, *visits: int | None) -> None:
        """Have one thread make ready what answers for visits of tasks, or for all, where several may ask."""
        model, inference = snapshot.model, self.inference
        for visit in visits or (None,):
            ready = partial(model.learner_.probabilities, model._form.blank(), visit, inference=inference)
            snapshot.make_ready((visit, inference), ready)

    # Keeping

    def save(self, path: str | Path) -> Path:
        """Write everything to one file, from which learning goes on as if it had never been saved; nothing is pickled."""
        with self._answering() as snapshot:
            return to_saved(snapshot.model, self.get_params(deep=False)).save(path)

    @classmethod
    def load(cls, path: str | Path, *, network: Any = None, features: Any = None, device: str = "cpu") -> Self:
        """The estimator in a file that `save` wrote, or one for the learner that `merlin run` left behind.

        `network` must be given if it is not one of this package, by name (`package.module:factory`: loading it runs it) or, where
        it was an object, as that: what a file holds is its name and checksum.
        `features` must be given if it learned from any: the file has their name and checksum, and imports nothing by itself.
        """
        estimator = restored(
            SavedLearner.load(path, network=network, features=features, device=device), str(path), features
        )
        if not isinstance(estimator, cls):
            raise UsageError(
                f"{path} holds a {type(estimator).__name__}; load it with {type(estimator).__name__}.load."
            )
        return estimator

    # How it works

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def _taken(self, X: Any, y: Any, classes: Any, first: bool, sample_weight: Any) -> tuple[Tensor, Tensor]:
        """X as a tensor and y as outputs of the head, once there is a learner with an output for every class."""
        _require_count("batch_size", self.batch_size)
        _require_count("calibration", self.calibration, least=0)
        x, note = self._features_of(X, first)
        if not first:
            self._form.require(x)
        y = checked_labels(y, len(x))
        weights = checked_weights(sample_weight, len(x))
        known = Labels(np.array([])) if first else self._labels
        if classes is not None:
            known = known.with_new(of_one_kind(classes))
        labels = known.with_new(y)
        if first:
            self._begin_anew(InputForm.of(x), len(labels))
            self._note = note
        else:
            self._make_room(len(labels), self.learner_.stream.tasks)
        self._labels, self.classes_ = labels, labels.classes
        if self._means is not None:
            self._means = self._means.after(x)
            x = self._filled(x)
        self._measure(x, first)
        return self._weighted(self._standardised(x), torch.from_numpy(labels.outputs(y)), weights)

    def _weighted(self, x: Tensor, y: Tensor, weights: Array | None) -> tuple[Tensor, Tensor]:
        """Every example as often as its weight says; what is less than one is carried over to the next."""
        if weights is None:
            return x, y
        ends = np.floor(self._carry + weights.cumsum() + 1e-9)
        times = torch.from_numpy(np.diff(ends, prepend=0.0).astype(np.int64))
        self._carry = float(self._carry + weights.sum() - ends[-1])
        return x.repeat_interleave(times, dim=0), y.repeat_interleave(times)

    def _measure(self, x: Tensor, first: bool) -> None:
        """Find the scale of each column, from the first examples on until there are enough of them or a task is over. Features
        share one scale, which the first examples settle, unless every column of them is to have its own."""
        if first and self._note is not None and self.standardise is None:
            self._standardisation = Standardisation.scale_of(x)
        elif first:
            self._moments = self._first_moments(x)
        elif self._moments is not None:
            self._moments = self._moments.with_more(x)
        if self._moments is not None:
            self._standardisation = self._moments.standardisation(LEAST_DEVIATION)
            self._moments = None if self._moments.settled else self._moments

    def _first_moments(self, x: Tensor) -> Moments | None:
        """Of the first examples, if inputs like them are to be standardised."""
        if self.standardise and not x.is_floating_point():
            raise UsageError(
                "standardise is True, but inputs are bytes, whose scale is known; give numbers, or leave it out."
            )
        if not x.is_floating_point() or (x.dim() > 2 and not self.standardise):
            return None
        moments = Moments.of(x)
        if self.standardise is False:
            _warn_of_scales(moments)
            return None
        return moments if self.standardise or moments.unlike else None

    def _begin_anew(self, form: InputForm, classes: int) -> None:
        """A learner that has learned nothing."""
        stream = StreamInfo(
            "estimator", form.shape, classes, self.expected_tasks, self.scenario == "domain-incremental"
        )
        seed = self.random_state if isinstance(self.random_state, int) else None
        if seed is None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._form = form
        self.learner_ = self._method_settings(stream).build(stream, seed, self.device)
        self._divider = divider(self.boundaries, form.shape)
        self._means = ColumnMeans.none(form.shape) if self.missing == "mean" and not form.bytes else None
        self._carry = CARRY
        self._standardisation, self._moments, self.visits_ = None, None, []
        self._calibration, self._answers_to_held = HeldExamples.empty(self.calibration, form.blank()), {}

    def _method_settings(self, stream: StreamInfo) -> MethodSettings:
        """The preset's, changed where the user asked for it."""
        if self.scenario not in ("class-incremental", "domain-incremental"):
            raise unknown("scenario", self.scenario, ("class-incremental", "domain-incremental"))
        if not isinstance(self.settings, Mapping | None):
            raise UsageError(f"settings is {self.settings!r}; give names and values, as in {{'exemplars': 100}}.")
        _require_count("expected_tasks", self.expected_tasks)
        method = self._advice(stream).method if self.method == "auto" else self.method
        kind, preset = preset_kind(method, self.preset)
        changes = {name: getattr(self, name) for name in self._method_parameters} | dict(self.settings or {})
        hints, given = hints_of(kind), {name: value for name, value in changes.items() if value is not None}
        if "network" in given:
            given["network"] = network_name(given["network"])
        for name in given:
            if name not in hints:
                raise unknown(f"setting of {kind.method}", name, hints)
        fitted = {name: fitting(name, _plain(value), hints[name]) for name, value in given.items()}
        return replace(kind.preset(preset, stream), **fitted)

    def _advice(self, stream: StreamInfo) -> Advice:
        """What `auto` chooses on a stream."""
        if self.budget is not None:
            _require_count("budget", self.budget)
        return advised(stream, self.settings or (), self.budget, self._form.bytes)

    @property
    def choice_(self) -> str:
        """The method that answers, and, where "auto" chose it, why."""
        check_is_fitted(self)
        method = self.learner_.settings.method
        if self.method != "auto":
            return f"{method}, as you said."
        advice = self._advice(self.learner_.made_for)
        return f"{method}: {advice.reason}" if advice.method == method else f"{method}, by an earlier version's rule."

    def _make_room(self, classes: int, tasks: int) -> None:
        """Let the learner grow, if need be."""
        stream = self.learner_.stream
        if classes <= stream.classes and tasks <= stream.tasks:
            return
        try:
            self.learner_ = self.learner_.grown(max(classes, stream.classes), max(tasks, stream.tasks))
        except UsageError as error:
            raise UsageError(
                f"{error} For this estimator, `classes` of the first partial_fit and the parameter expected_tasks make room."
            ) from None

    def _is_another(self, task: TaskName | None, first: bool) -> bool:
        """Whether examples of this task are the first of it."""
        if task is None:
            return False
        if self.boundaries != "told":
            raise UsageError(
                f"task is {task!r}, but boundaries is {self.boundaries!r}; leave the task out, or set boundaries to 'told'."
            )
        if not isinstance(task, str | int | np.integer) or isinstance(task, bool):
            raise UsageError(f"task is {task!r}; give a name or a number.")
        return not (first or (self.learner_.learning and task == self.visits_[-1]))

    def _learn(self, x: Tensor, y: Tensor, name: TaskName | None) -> None:
        """Batch after batch, the task ending where the divider says so; what is held back is not learned."""
        told = self.boundaries == "told"
        self._answers_to_held = {}
        for begins, some_x, some_y in self._divider.pieces(x, y, self.batch_size):
            if begins:
                self._end()
            classes = sorted(set((y if told else some_y).tolist()))
            if self.learner_.learning:
                self.learner_.admit(classes)
            else:
                self._begin(name, classes)
            task, seed = len(self.visits_) - 1, self.learner_.seed
            self._calibration, some_x, some_y = self._calibration.passed(some_x, some_y, task, seed)
            self.learner_.observe(some_x, some_y)

    def _end(self) -> None:
        if self.learner_.learning:
            self.learner_.end()
            self._moments = None
            self._answers_to_held = {}

    def _begin(self, name: TaskName | None, classes: list[int]) -> None:
        index = len(self.visits_)
        if name is None:
            name = next(number for number in itertools.count(index) if number not in self.visits_)
        self._make_room(self.learner_.stream.classes, index + 1)
        self.learner_.begin(TaskInfo(index, tuple(classes), str(name)))
        self.visits_ = [
            *self.visits_,
            name if isinstance(name, str) else int(name),
        ]  # another list: twins share this one

    def _asked(self, X: Any) -> Tensor:
        return self._as_learned(self._features_of(X, first=False)[0])

    def _features_of(self, X: Any, first: bool) -> tuple[Tensor, FeaturesNote | None]:
        """X as the learner sees it: checked, and in features if there are any."""
        if self.features is None:
            return checked_inputs(self, X, first), None
        features, raw = Features.kept(self.features), as_raw(X)
        if not first and self._note is not None:
            self._note.form.require(raw)
        x = features.of_raw(raw)
        if first:
            self.n_features_in_, self._encoding = x.shape[1], None
        return x, features.note(RawForm.of(raw))

    def _as_learned(self, x: Tensor) -> Tensor:
        """Inputs in the form of those learned from."""
        self._form.require(x)
        return self._standardised(self._filled(x))

    def _filled(self, x: Tensor) -> Tensor:
        """Inputs without a number missing."""
        if self._means is None:
            return x
        x = self._means.filled(x)
        require_computable(x)
        return x

    def _standardised(self, x: Tensor) -> Tensor:
        return x if self._standardisation is None else self._standardisation.applied(x)[0]

    def _visits(self, task: TaskName | None) -> tuple[int, ...]:
        """The numbers of all visits of a task; none where no task is named."""
        if task is not None and task not in self.visits_:
            raise unknown("task", str(task), map(str, self.tasks_))
        return tuple(at for at, name in enumerate(self.visits_) if task is not None and name == task)

    def _index(self, task: TaskName | None) -> int | None:
        """The number of a task's last visit."""
        visits = self._visits(task)
        return visits[-1] if visits else None

    def _answers(self, x: Tensor, visits: tuple[int, ...], inference: Inference | None) -> Tensor:
        """The probabilities of outputs, [N, outputs], for inputs of a task that was visited so often, or of any.

        Where the task came back with the same classes, what was learned at each visit has an equal say; where it came back with
        others, the answer is among all of them.
        """
        learner = self.learner_
        if len(visits) < 2:
            return learner.probabilities(x, *visits, inference=inference)
        classes = [set(learner.tasks[visit].classes) for visit in visits]
        if "aware" in learner.inferences and all(some == classes[0] for some in classes):
            parts = [learner.probabilities(x, visit, inference=inference) for visit in visits]
            return torch.stack(parts).mean(dim=0)
        class_sets = [sorted(set().union(*classes))]
        return learner.logits(x, inference=inference, class_sets=class_sets)[0].double().softmax(dim=1)


def _require_count(name: str, value: Any, least: int = 1) -> None:
    """Refuse a parameter that is no whole number of at least so many."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise UsageError(f"{name} is {value!r}; it must be a whole number of at least {least}.")
    if value < least:
        raise UsageError(f"{name} is {value}; it must be at least {least}.")


def _warn_of_scales(moments: Moments) -> None:
    """Say so where columns that nobody standardises differ in scale by more than a network bears."""
    ratio = moments.ratio
    if ratio > FAR_APART:
        warnings.warn(
            f"The numbers of one column are {ratio:,.0f} times as large as those of another; scale them, or leave "
            "standardise=False out.",
            stacklevel=5,
        )


def _plain(value: Any) -> Any:
    """A number of NumPy's as Python's."""
    return value.item() if isinstance(value, np.generic) else value

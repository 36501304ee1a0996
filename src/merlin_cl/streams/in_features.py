"""A stream whose inputs are features of another's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from merlin_cl.errors import UsageError
from merlin_cl.features import Features
from merlin_cl.features.raw import RawForm
from merlin_cl.inputs.standardisation import Standardisation
from merlin_cl.streams.stream import Pool, Selection, Stream, Task


def in_features(stream: Stream, features: Features, scale: bool = True) -> Stream:
    """The stream with features in the place of its inputs, tasks and their order unchanged.

    Features are computed for the examples that some task shows. With `scale` they are divided by one number, so that their mean
    square on the training examples of the first task is 1.
    """
    if stream.features is not None:
        raise UsageError(f"{stream.info.name} is in features {stream.features.name!r} already; build it without them.")
    computed = _Pools(features)
    train = [computed.selection(task.unlearned()) for task in stream]
    test = [computed.selection(task.scored) for task in stream]
    standardisation = Standardisation.scale_of(train[0].gather()[0]) if scale else None
    computed.standardise(standardisation)
    form = RawForm.of(stream[0].test_sample(1))
    info = replace(stream.info, input_shape=(features.size(form),), mirrored=False)
    tasks = [
        Task(task.info, computed.final(to_learn), computed.final(to_score), task.order)
        for task, to_learn, to_score in zip(stream, train, test, strict=True)
    ]
    other = {name: _other(read, features, standardisation) for name, read in stream.other.items()}
    made = Stream(
        info,
        tasks,
        f"{stream.source}, in features {features.name} ({features.checksum})",
        stream.class_names,
        f"{stream.fingerprint}+{features.checksum}",
        stream.place,
        other,
    )
    made.standardisation, made.features = standardisation, features.note(form)
    return made


class _Pools:
    """Pools of inputs and what became of them: each is computed once, however many tasks draw from it."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self._computed: dict[int, tuple[Pool, Pool]] = {}  # by identity of the inputs: those, and their features
        self._final: dict[int, Pool] = {}

    def selection(self, chosen: Selection) -> Selection:
        """The same examples, in features. A task that shows its inputs in a way of its own has a pool of its own."""
        if chosen.transform is not None:
            x, y = chosen.gather()
            pool = Pool(x, y)
            return Selection(self._of(pool), chosen.at.new_tensor(range(len(y))))
        return replace(chosen, pool=self._of(chosen.pool))

    def standardise(self, standardisation: Standardisation | None) -> None:
        """Settle what the numbers of every pool become."""
        for _, pool in self._computed.values():
            x = pool.x if standardisation is None else standardisation.applied(pool.x)[0]
            self._final[id(pool)] = Pool(x, pool.y)

    def final(self, chosen: Selection) -> Selection:
        """Examples as a task gives them out."""
        return replace(chosen, pool=self._final[id(chosen.pool)])

    def _of(self, pool: Pool) -> Pool:
        if id(pool.x) not in self._computed:
            self._computed[id(pool.x)] = (pool, Pool(self._features(pool.x), pool.y))
        return self._computed[id(pool.x)][1]


def _other(
    read: Callable[[int], Tensor], features: Features, standardisation: Standardisation | None
) -> Callable[[int], Tensor]:
    """Inputs of another kind, in features."""

    def computed(count: int) -> Tensor:
        x = features(read(count))
        return x if standardisation is None else standardisation.applied(x)[0]

    return computed

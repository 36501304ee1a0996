"""Some threads ask while another teaches: every answer comes from a snapshot that is whole, and waits for no learning.

A learning call works on the learner itself, and the state from before is kept for those who ask meanwhile: the first of them
has a twin made of it. A learner that other threads have asked stays theirs until the call is done, and a twin of it learns on.
Where the teaching thread is the only one there is, nothing is copied at all.
"""

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from merlin_cl.estimator.boundaries import divider
from merlin_cl.networks.memory import keep_freed_memory
from merlin_cl.tensors import State

PUBLICATION = "_publication"


class Snapshot:
    """What answers: an estimator as a learning call left it, or the state of one, of which it is made when it is asked."""

    def __init__(self, model: Any, state: State | None = None) -> None:
        self._model, self._state = model, state
        self.readers = 0  # answers that are being given
        self.askers: set[int] = set()  # threads that have asked
        self._preparing = threading.Lock()
        self._ready: set[Hashable] = set()

    @property
    def model(self) -> Any:
        """The estimator."""
        if self._state is not None:
            with self._preparing:
                if self._state is not None:
                    _restore(self._model, self._state)
                    self._state = None
        return self._model

    def make_ready(self, question: Hashable, prepare: Callable[[], object]) -> None:
        """Let one thread make ready what a question needs, where several could; a thread alone does so as it answers."""
        if question in self._ready or threading.active_count() == 1:
            return
        with self._preparing:
            if question not in self._ready:
                prepare()
                self._ready.add(question)


class Publication:
    """What an estimator answers from, between learning calls and during one, and whose turn it is to teach."""

    def __init__(self) -> None:
        self.turn = threading.RLock()
        self._changed = threading.Condition()
        self._live: Snapshot | None = None  # what was learned last; None while a thread that is alone works on it
        self._meanwhile: Snapshot | None = None  # what answers while another thread works on what was learned last
        self._working: tuple[int, Any] | None = None  # the teaching thread, and what it works on

    def enter(self, estimator: Any) -> Snapshot:
        """What is to answer a question of this thread; `leave` says that the answer has been given."""
        asker = threading.get_ident()
        threading.current_thread()  # one that was not started by Python is counted from now on
        with self._changed:
            if self._working is not None and self._working[0] == asker:
                snapshot = Snapshot(self._working[1])  # it asks in the middle of its own learning
            else:
                if self._working is None:
                    self._require_live(estimator)
                while (answering := self._meanwhile or self._live) is None:
                    self._changed.wait()  # only a thread that was not there when another, alone, began to learn comes here
                snapshot = answering
            snapshot.readers += 1
            snapshot.askers.add(asker)
            return snapshot

    def leave(self, snapshot: Snapshot) -> None:
        """An answer has been given."""
        with self._changed:
            snapshot.readers -= 1

    def begin(self, estimator: Any, anew: bool) -> Any:
        """What this thread, whose turn it is, is to work on: a twin of the estimator; `anew`: what was learned is not needed."""
        state: State | None = None
        while True:
            with self._changed:
                live = self._require_live(estimator)
                alone = threading.active_count() == 1
                if live is None or anew or alone or state is not None:
                    working, left = self._hand_over(estimator, live, state, anew)
                    break
            state = _state_of(live.model)
        if left:
            assert state is not None
            _restore(working, state)
        return working

    def _hand_over(self, estimator: Any, live: Snapshot | None, state: State | None, anew: bool) -> tuple[Any, bool]:
        """Settle what answers meanwhile; gives what to work on, and whether its learner is left to those who ask."""
        teacher, working = threading.get_ident(), _twin(estimator)
        left = live is not None and state is not None and bool(live.readers or live.askers - {teacher})
        if live is None or anew or left:
            self._meanwhile = live
        elif state is not None:
            self._meanwhile = Snapshot(_twin(estimator), state)
        else:
            self._live = None
        self._working = (teacher, working)
        return working, left and not anew

    def end(self, estimator: Any) -> None:
        """What was worked on, which the estimator has taken over, answers from now on."""
        self._settle(Snapshot(_twin(estimator)))

    def give_up(self) -> Any:
        """What answered meanwhile goes on doing so; the answer is its estimator, None where there is none."""
        before = self._meanwhile
        self._settle(before)
        return None if before is None else before.model

    def _settle(self, snapshot: Snapshot | None) -> None:
        with self._changed:
            self._live, self._meanwhile, self._working = snapshot, None, None
            self._changed.notify_all()

    def _require_live(self, estimator: Any) -> Snapshot | None:
        """What was learned last; an estimator that was loaded, or unpickled, has not published it yet."""
        if self._live is None and estimator.__sklearn_is_fitted__():
            self._live = Snapshot(_twin(estimator))
        return self._live


class SharedByThreads:
    """The part of an estimator that lets threads ask while one of them teaches."""

    @contextmanager
    def _answering(self) -> Iterator[Snapshot]:
        """What answers a question, for as long as that takes."""
        check_is_fitted(self)
        publication = self._published
        snapshot = publication.enter(self)
        try:
            yield snapshot
        finally:
            publication.leave(snapshot)

    @contextmanager
    def _teaching(self, *, anew: bool = False) -> Iterator[Self]:
        """What a learning call works on; the estimator takes it over when the call is done. One such call is made at a time.

        A call that fails leaves what other threads may have asked as it was; alone, it leaves what it came to.
        """
        publication = self._published
        with publication.turn:
            before = dict(self.__dict__)
            working = publication.begin(self, anew)
            try:
                yield working
            except BaseException:
                given_up = publication.give_up()
                if given_up is None and hasattr(working, "learner_"):
                    self._take_over(before, working)
                    publication.end(self)
                elif given_up is not None:
                    self._take_over(before, given_up)
                raise
            self._take_over(before, working)
            publication.end(self)

    def _take_over(self, before: dict[str, Any], working: Any) -> None:
        """Have what a learning call has changed."""
        after = working.__dict__
        self.__dict__.update({name: value for name, value in after.items() if before.get(name, self) is not value})
        for name in before.keys() - after.keys() - {PUBLICATION}:
            del self.__dict__[name]

    @property
    def _published(self) -> Publication:
        publication: Publication | None = self.__dict__.get(PUBLICATION)
        return publication or self.__dict__.setdefault(PUBLICATION, Publication())

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()  # scikit-learn's
        return {name: value for name, value in state.items() if name != PUBLICATION}


def _twin(estimator: Any) -> Any:
    """The same estimator with the same parts, which may be given others."""
    twin = object.__new__(type(estimator))
    twin.__dict__.update(estimator.__dict__)
    twin.__dict__.pop(PUBLICATION, None)
    return twin


def _state_of(model: Any) -> State:
    """All that learning changes of an estimator, as it is now. Others' learners may give out the very tensors they go on with."""
    keep_freed_memory()  # as much is needed again for the next call
    learner: State = model.learner_.state()
    ours = type(model.learner_).__module__.startswith("merlin_cl.")
    return {"learner": learner if ours else _cloned(learner), "divider": model._divider.state()}


def _restore(model: Any, state: State) -> None:
    """Give an estimator a learner and a divider of its own, as they were."""
    model.learner_ = model.learner_.twin(state["learner"])
    model._divider = divider(model.boundaries, model.learner_.stream.input_shape)
    model._divider.restore(state["divider"])


def _cloned(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {key: _cloned(item) for key, item in value.items()}
    return [_cloned(item) for item in value] if isinstance(value, list | tuple) else value

"""Four threads ask while one teaches: answers are whole, of a learning call that was done, and wait for none that goes on."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from merlin_cl import ContinualClassifier
from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.rivals.er import ER

from .small import clouds, merlin, rival

pytestmark = pytest.mark.usefixtures("short_fits")

MINUTES = 300
"""No answer takes as long; only a thread that waits for ever does."""
READERS = 8
METHODS = ("merlin", "gdumb-ensemble", "joint", "er", "er-ema", "der++", "gem", "icarl", "scr", "ewc", "lwf", "cn-dpm")
"""One of each kind: by what they keep and what they answer from."""


class Dropping(torch.nn.Sequential):
    """A network of a user's own that draws random numbers and keeps statistics."""

    def __init__(self, shape, classes):
        layers = torch.nn.Linear(*shape, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Dropout(0.3)
        super().__init__(*layers, torch.nn.Linear(16, classes))


def small(method):
    if method == "merlin":
        return merlin(models=2, base_models=2, updates_per_batch=1, settings={"fine_tune_epochs": 1})
    generative = {"likelihood": "gaussian"} if method == "cn-dpm" else {}
    if method == "own network":
        return rival("er", network=f"{__name__}:Dropping")
    return rival(method, **generative)


def lessons():
    """Learning calls, which bring classes, tasks and ends of tasks."""
    for step in range(3):
        x, y = clouds(2 * step, 2 * step + 1, count=20)
        yield lambda model, x=x, y=y: model.partial_fit(x, y, classes=range(6))
        yield lambda model: model.end_task()


def known_answers(method, x):
    """What each learning call, when it is done, makes of the answers, by one thread."""
    model, known = small(method), []
    for lesson in lessons():
        known.append(lesson(model).predict_proba(x).tobytes())
    return known


@pytest.mark.parametrize("method", [*METHODS, "own network"])
def test_readers_see_what_some_learning_call_left_and_nothing_else(method):
    x, _ = clouds(0, 1, 2, 3, 4, 5, count=12)
    known, (first, *rest) = known_answers(method, x), lessons()
    model, done = first(small(method)), threading.Event()

    def read():
        own = []
        while not done.is_set() or not own:
            own.append(model.predict_proba(x).tobytes())
            assert model.predict(x, task=0).shape == (12,)
        return own

    with ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(read) for _ in range(READERS)]
        for lesson in rest:
            lesson(model)
        done.set()
        for reader in readers:
            order = [known.index(answer) for answer in reader.result(MINUTES)]
            assert order == sorted(order)  # nobody sees what came before what he has seen
    assert model.predict_proba(x).tobytes() == known[-1]


@pytest.fixture
def held(monkeypatch):
    """ER that stops in the middle of learning until it is told to go on."""
    begun, go_on, whole = threading.Event(), threading.Event(), ER._observe

    def stopping(self, x, y):
        whole(self, x, y)
        begun.set()
        assert go_on.wait(MINUTES)

    def hold():
        monkeypatch.setattr(ER, "_observe", stopping)
        return begun, go_on

    return hold


@pytest.mark.parametrize("asked_before", [True, False])
def test_no_answer_waits_for_learning(held, asked_before, tmp_path):
    """Neither the first one that another thread ever asked for, nor later ones."""
    x, _ = clouds(0, 1, 2)
    model = rival("er").partial_fit(*clouds(0, 1))
    before = model.predict_proba(x)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(model.predict_proba, x).result(MINUTES) if asked_before else pool.submit(int).result()
        begun, go_on = held()
        learning = pool.submit(model.partial_fit, *clouds(2))
        assert begun.wait(MINUTES)
        np.testing.assert_array_equal(model.predict_proba(x), before)
        assert list(model.classes_) == [0, 1]
        assert model.tasks_ == [0]
        assert list(model.task_classes_[0]) == [0, 1]
        saved = model.save(tmp_path / "model")
        assert not learning.done()
        go_on.set()
        assert learning.result(MINUTES) is model
    assert model.predict_proba(x).shape == (60, 3)
    assert list(model.task_classes_[0]) == [0, 1, 2]
    np.testing.assert_array_equal(ContinualClassifier.load(saved).predict_proba(x), before)


def test_whoever_is_being_answered_keeps_what_answers(monkeypatch):
    """An answer that was begun before learning, and takes longer, is that of before."""
    x, _ = clouds(0, 1)
    model = rival("er").partial_fit(*clouds(0, 1))
    before, whole = model.predict_proba(x), ER._answers
    asked, go_on = threading.Event(), threading.Event()

    def slow(self, *question):
        asked.set()
        assert go_on.wait(MINUTES)
        return whole(self, *question)

    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(ER, "_answers", slow)
        answer = pool.submit(model.predict_proba, x)
        assert asked.wait(MINUTES)
        for _ in range(3):
            model.partial_fit(*clouds(0, 1))
        go_on.set()
        np.testing.assert_array_equal(answer.result(MINUTES), before)
    assert (model.predict_proba(x) != before).any()


def test_several_teachers_take_turns():
    model = rival("er").partial_fit(*clouds(0, 1), classes=range(8))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda seed: model.partial_fit(*clouds(0, 1, seed=seed)), range(8)))
    assert sum(model.learner_.memory._seen.values()) == 9 * 60


def test_where_others_may_ask_a_call_that_fails_leaves_no_trace(monkeypatch):
    x, _ = clouds(0, 1)
    model = rival("er", updates_per_batch=1).partial_fit(*clouds(0, 1))
    before, whole, calls = model.predict_proba(x), ER._observe, []

    def failing(self, *batch):
        whole(self, *batch)
        calls.append(batch)
        if len(calls) > 2:
            raise InputError("No more.")

    with ThreadPoolExecutor(1) as pool:
        for asker in (None, pool):
            if asker is not None:
                asker.submit(model.predict, x).result(MINUTES)
            pool.submit(int).result()  # the thread is there
            calls.clear()
            monkeypatch.setattr(ER, "_observe", failing)
            with pytest.raises(InputError, match="No more"):
                model.partial_fit(*clouds(2, 3), task="new")
            monkeypatch.undo()
            np.testing.assert_array_equal(model.predict_proba(x), before)
            assert model.tasks_ == [0]
            with pytest.raises(UsageError, match="Unknown task"):
                model.predict(x, task="new")
        with pytest.raises(ValueError, match="NaN"):
            model.fit(x * np.nan, np.zeros(60))
        np.testing.assert_array_equal(model.predict_proba(x), before)
    assert list(model.partial_fit(*clouds(2, 3), task="new").classes_) == [0, 1, 2, 3]


def test_one_thread_alone_copies_nothing(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(ER, "twin", lambda *_: pytest.fail("a twin was made"))
    monkeypatch.setattr(ER, "state", lambda *_: pytest.fail("the state was taken"))
    model = rival("er")
    for seed in range(3):
        learner = model.partial_fit(*clouds(0, 1, seed=seed)).learner_
        model.predict(clouds(0, 1)[0])
        assert model.end_task().learner_ is learner


def test_learning_that_nobody_else_asks_about_makes_no_twin(monkeypatch):
    monkeypatch.setattr(ER, "twin", lambda *_: pytest.fail("a twin was made"))
    model = rival("er").partial_fit(*clouds(0, 1))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        for _ in range(3):
            model.partial_fit(*clouds(0, 1)).predict(clouds(0, 1)[0])


def test_copies_answer_and_learn_on_their_own():
    x, _ = clouds(0, 1)
    model = rival("er").partial_fit(*clouds(0, 1))
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    before = model.predict_proba(x)
    model.partial_fit(*clouds(2))
    for other in copies:
        np.testing.assert_array_equal(other.predict_proba(x), before)
        assert list(other.partial_fit(*clouds(3)).classes_) == [0, 1, 3]

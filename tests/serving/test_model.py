"""A model learns what is in its journal, each entry once, whatever stops it in between."""

import copy
import json
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from estimator.small import clouds
from merlin_cl import ContinualClassifier
from merlin_cl.errors import InputError, MerlinError
from merlin_cl.estimator import persistence
from merlin_cl.learners.rivals.er import ER
from merlin_cl.serving.journal import Journal, Request, StorageError
from merlin_cl.serving.model import LESSON, ServedModel, first_version, lessons

from .asking import made

pytestmark = pytest.mark.usefixtures("short_fits")


def learn(seed, *classes, count=4, task=None, end_task=False):
    x, y = clouds(*(classes or (0, 1)), count=count, seed=seed)
    return Request("learn", x.astype(np.float64), tuple(y.tolist()), task, end_task)


def began(folder, model):
    """A service's model in a folder, as a process would find it."""
    folder.mkdir(exist_ok=True)
    journal = Journal(folder / "journal.sqlite")
    first_version(journal, model, "checksum", folder / "versions", ContinualClassifier.load)
    return ServedModel(journal, folder / "versions", ContinualClassifier.load, keep=3)


def content(estimator):
    """All of an estimator, but for the time that it took, as something that can be compared."""
    held = persistence.to_saved(estimator, estimator.get_params(deep=False))
    state = held.state()
    state["learner"]["cpu_seconds"] = {}
    return json.dumps([held.header(), state], default=lambda value: value.numpy().tobytes().hex(), sort_keys=True)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return made(tmp_path_factory.mktemp("model") / "model")


ACTIONS = st.lists(
    st.tuples(st.just("learn"), st.integers(0, 9), st.sampled_from([None, "a", "b"]))
    | st.tuples(st.sampled_from(["step", "save", "kill", "back"])),
    max_size=12,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ACTIONS)
def test_kills_lose_nothing_and_repeat_nothing(saved, tmp_path, actions):
    """Whatever is learned, saved, gone back to and killed, in whatever order: the model is that of its lessons, once each."""
    folder = tmp_path / "state"
    shutil.rmtree(folder, ignore_errors=True)
    model = began(folder, saved)
    sent = 0
    for action, *more in actions:
        if action == "learn":
            seed, task = more
            model.journal.append(f"{sent}", learn(seed, task=task))
            sent += 1
        elif action == "step":
            model.step()
        elif action == "save":
            model.save()
        elif action == "back":
            model.journal.append(f"{sent}", Request("rollback", version=next(iter(model.journal.versions()))))
            sent += 1
        else:
            model.journal.close()
            model = began(folder, saved)
    while model.step():
        pass
    entries = model.journal.after(0, 10**6)
    assert [entry.number for entry in entries] == list(range(1, sent + 1))
    assert all(entry.lesson is not None for entry in entries)
    reference = ContinualClassifier.load(saved)
    versions = {0: copy.deepcopy(reference)}
    for lesson in lessons(entries):
        request = lesson[0].request
        assert lesson[0].refusal is None
        if request.kind == "rollback":
            reference = copy.deepcopy(versions[request.version])
        else:
            x = np.concatenate([entry.request.inputs for entry in lesson])
            reference.partial_fit(x, [label for entry in lesson for label in entry.request.labels], task=request.task)
        versions[lesson[-1].number] = copy.deepcopy(reference)
    assert content(reference) == content(model._live)
    assert content(reference) == content(model.snapshot.estimator)
    model.journal.close()


@pytest.mark.parametrize("method", ["er", "slda", "merlin"])
def test_learning_after_a_kill_gives_the_same_bits(tmp_path, method):
    if method == "merlin":
        from estimator.small import merlin

        path = merlin().partial_fit(*clouds(0, 1)).save(tmp_path / "model")
    else:
        path = made(tmp_path / "model", method=method)
    whole, broken = began(tmp_path / "whole", path), began(tmp_path / "broken", path)
    for number in range(6):
        request = learn(number, 0, 1, number, task="next" if number > 3 else None, end_task=number == 5)
        for model in (whole, broken):
            model.journal.append(str(number), request)
        whole.step()
        broken.step()
        if number == 2:
            broken.save()
        if number % 2 == 0:
            broken.journal.close()
            broken = began(tmp_path / "broken", path)
    while broken.step():
        pass
    assert content(whole._live) == content(broken._live)
    for model in (whole, broken):
        model.journal.close()


def test_single_examples_that_wait_make_whole_batches(tmp_path, saved, monkeypatch):
    model, sizes, whole = began(tmp_path / "state", saved), [], ER._observe
    monkeypatch.setattr(ER, "_observe", lambda self, x, y: (sizes.append(len(x)), whole(self, x, y)))
    for number in range(LESSON + 20):
        model.journal.append(str(number), learn(number, 0, count=1))
    model.step()
    assert sizes == [10] * 12
    assert model.snapshot.version == LESSON + 20
    model.journal.close()


def test_going_back_is_to_the_bits_of_that_version(tmp_path, saved):
    model = began(tmp_path / "state", saved)
    model.journal.append("1", learn(1, 0, 1, 2))
    model.step()
    model.save()
    then = content(model._live)
    model.journal.append("2", learn(2, 3, 4))
    model.step()
    assert list(model.snapshot.estimator.classes_) == [0, 1, 2, 3, 4]
    model.journal.append("3", Request("rollback", version=1))
    model.step()
    assert list(model.snapshot.estimator.classes_) == [0, 1, 2]
    assert content(model._live) == then
    assert list(model.journal.versions()) == [0, 1, 3]
    model.journal.append("4", Request("rollback", version=2))
    model.step()
    assert model.journal.state_of("4")[1] == "refused"
    model.journal.close()


def test_only_what_fails_by_itself_is_refused(tmp_path, saved, monkeypatch):
    model, reference, whole = began(tmp_path / "state", saved), began(tmp_path / "other", saved), ER._observe

    def failing(self, x, y):
        whole(self, x, y)
        if bool((x > 900).any()):
            raise InputError("Too far away.")

    monkeypatch.setattr(ER, "_observe", failing)
    for number in range(5):
        request = learn(number)
        if number == 3:
            model.journal.append("3", Request("learn", request.inputs + 1_000, request.labels))
            continue
        for one in (model, reference):
            one.journal.append(str(number), request)
        reference.step()
    outcomes = model.step()
    assert [outcome.refusal for outcome in outcomes] == [None, None, None, "Too far away.", None]
    assert [outcome.lesson for outcome in outcomes] == [1, 2, 3, 4, 5]
    assert content(model._live) == content(reference._live)
    assert model.snapshot.version == 5
    for one in (model, reference):
        one.journal.close()


def test_a_version_that_cannot_be_read_is_made_again_from_the_one_before(tmp_path, saved):
    model = began(tmp_path / "state", saved)
    for number in range(3):
        model.journal.append(str(number), learn(number))
        model.step()
        model.save()
    then, newest = content(model._live), model.path(3)
    model.journal.close()
    newest.write_bytes(newest.read_bytes()[:-50])
    again = began(tmp_path / "state", saved)
    assert again.applied == 2
    again.step()
    assert content(again._live) == then
    again.journal.close()


def test_files_that_a_kill_left_are_cleared(tmp_path, saved):
    model = began(tmp_path / "state", saved)
    model.path(9).write_bytes(b"half")
    model.journal.close()
    model = began(tmp_path / "state", saved)
    assert sorted(file.name for file in (tmp_path / "state/versions").iterdir()) == ["0.safetensors"]
    model.journal.close()


def test_another_model_for_the_same_folder_is_refused(tmp_path, saved):
    began(tmp_path / "state", saved).journal.close()
    journal = Journal(tmp_path / "state" / "journal.sqlite")
    with pytest.raises(MerlinError, match="is another model than the one that"):
        first_version(journal, saved, "another", tmp_path / "state" / "versions", ContinualClassifier.load)
    journal.close()


def test_outcomes_that_could_not_be_noted_are_noted_later(tmp_path, saved, monkeypatch):
    model = began(tmp_path / "state", saved)
    model.journal.append("1", learn(1))
    monkeypatch.setattr(model.journal, "note", lambda *_: (_ for _ in ()).throw(StorageError("Full.")))
    with pytest.raises(StorageError):
        model.step()
    with pytest.raises(StorageError):
        model.save()
    monkeypatch.undo()
    assert model.step() == []
    assert model.journal.state_of("1") == (1, "learned", None)
    assert model.save() == 1
    model.journal.close()

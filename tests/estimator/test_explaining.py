"""Reasons for an answer agree with the answer, and name tasks and exemplars that are there."""

import numpy as np
import pytest

from merlin_cl.errors import UsageError

from .small import clouds, merlin, rival

pytestmark = pytest.mark.usefixtures("short_fits")


def learned(model):
    for task, classes in (("winter", (0, 1)), ("summer", (2, 3)), ("winter", (0, 1))):
        model.partial_fit(*clouds(*classes), task=task)
    return model.end_task()


@pytest.mark.parametrize("make", [merlin, lambda: rival("er", updates_per_batch=5), lambda: rival("slda")])
def test_reasons_agree_with_the_answer(make):
    model = learned(make())
    x, _ = clouds(0, 1, 2, 3, seed=4, count=12)
    answers, reasons = model.predict_proba(x), model.explain(x, nearest=2)
    for row, why in zip(answers, reasons, strict=True):
        order = np.argsort(row)[::-1]
        assert why.label == model.classes_[order[0]]
        assert why.second in model.classes_
        assert why.second != why.label
        assert (why.confidence, why.second_confidence) == pytest.approx(tuple(row[order[:2]]))
        assert why.task == ("winter" if why.label < 2 else "summer")


def test_the_nearest_exemplars_are_those_of_the_memory():
    model = learned(rival("er", exemplars=30))
    memory = model.learner_.memory
    (why,) = model.explain(memory.x[7:8].numpy(), nearest=1)
    assert (why.nearest[0].label, why.nearest[0].distance) == (int(memory.y[7]), pytest.approx(0, abs=1e-6))
    distances = [one.distance for one in model.explain(memory.x[:1].numpy(), nearest=99)[0].nearest]
    assert len(distances) == 30
    assert distances == sorted(distances)
    assert learned(rival("slda")).explain(memory.x[:1].numpy())[0].nearest == ()


def test_merlin_weighs_its_tasks_and_one_that_came_back_is_one():
    model = learned(merlin())
    why = model.explain(clouds(0, 2, count=8)[0])
    assert all(0.5 < one.task_share <= 1 + 1e-6 for one in why)
    assert all(one.task_share is None for one in model.explain(clouds(2, 3, count=8)[0], task="summer"))
    assert all(one.task_share is None for one in learned(rival("er")).explain(clouds(0, 1, count=4)[0]))


@pytest.mark.parametrize("nearest", [-1, 1.5, True, "all"])
def test_what_is_no_number_of_exemplars(nearest):
    with pytest.raises(UsageError, match=r"nearest is .* give a number of exemplars"):
        learned(rival("er")).explain(clouds(0, 1, count=4)[0], nearest=nearest)

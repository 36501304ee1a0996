"""Every example is asked about before it is learned, and asking changes nothing of what is learned."""

import numpy as np
import pytest

from merlin_cl import evaluate_prequential
from merlin_cl.errors import MerlinError
from merlin_cl.metrics.prequential import RunningScore

from .small import clouds, merlin, rival


@pytest.mark.parametrize("make", [merlin, lambda: rival("er", updates_per_batch=5)])
def test_asking_changes_nothing_of_what_is_learned(make):
    x, y = clouds(0, 1, 2)
    tasks = ["winter"] * 25 + ["summer"] * 20 + ["winter"] * 15
    asked, plain = make(), make()
    scores = evaluate_prequential(asked, x, y, tasks, window=20)
    for start, stop in ((0, 10), (10, 20), (20, 25), (25, 35), (35, 45), (45, 55), (55, 60)):
        plain.partial_fit(x[start:stop], y[start:stop], task=tasks[start])
    np.testing.assert_array_equal(asked.predict_proba(x), plain.predict_proba(x))
    assert asked.visits_ == ["winter", "summer", "winter"]
    assert {name: score.examples for name, score in scores.by_task.items()} == {"winter": 40, "summer": 20}
    assert scores.overall.examples == 60
    assert [at for at, _ in scores.overall.curve] == [20, 40, 60]


def test_what_nobody_has_taught_yet_is_answered_wrong():
    scores = evaluate_prequential(rival("er"), *clouds(0, 1), every=60)
    assert (scores.overall.accuracy, scores.overall.met) == (0.0, 0)
    model = rival("er", updates_per_batch=10)
    score = evaluate_prequential(model, *clouds(0, 1)).overall
    assert score.met == 50  # all but the first batch
    later = evaluate_prequential(model, *clouds(0, 1, seed=1)).overall
    assert later.accuracy > 0.9 > score.accuracy
    assert 0 < later.log_loss < 1
    assert evaluate_prequential(model, *clouds(2, count=10), every=10).overall.accuracy == 0


def test_kappa_takes_chance_away():
    draws = np.random.default_rng(0)
    truths = draws.integers(0, 2, 5000).tolist()
    lazy, right = RunningScore(), RunningScore()
    lazy.add(truths, draws.integers(0, 2, 5000).tolist(), [0.5] * 5000, [True] * 5000)
    right.add(truths, truths, [1.0] * 5000, [True] * 5000)
    assert abs(lazy.kappa) < 0.05
    assert (right.kappa, right.accuracy, right.log_loss) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"window": 0}, "window is 0; give a number of examples"),
        ({"every": 0}, "every is 0; give a number of examples"),
        ({"every": 1.5}, "every is 1.5"),
        ({"task": ["a"]}, "60 inputs but 1 tasks"),
        ({"y": [0, 1]}, "60 inputs but 2 labels"),
    ],
)
def test_wrong_things(more, sentence):
    x, y = clouds(0, 1)
    with pytest.raises(MerlinError, match=sentence):
        evaluate_prequential(rival("er"), x, more.pop("y", y), **more)

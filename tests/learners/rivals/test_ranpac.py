"""A random projection and ridge regression: exact sums, no examples, a ridge chosen on what was held back."""

import torch

from merlin_cl.learners.rivals.ranpac import EVERY, RIDGES, add, best_ridge, ridge_weights
from merlin_cl.learners.rivals.ranpac_settings import RanPACSettings


def sums(features, y, classes):
    """G and Q."""
    gram, targets = (features.new_zeros(count, features.shape[1]) for count in (features.shape[1], classes))
    add(features, y, gram, targets)
    return gram, targets


def recorded(learner):
    seen, observe = [], learner.observe
    learner.observe = lambda x, y: (seen.append((x, y)), observe(x, y))
    return seen


def test_the_weights_are_those_of_a_regression_on_all_examples(tiny):
    learner = RanPACSettings(width=9).build(tiny.stream, seed=0)
    seen = recorded(learner)
    tiny.learn(learner)
    x, y = (torch.cat(parts) for parts in zip(*seen, strict=True))
    features, aims = learner._features(x), torch.nn.functional.one_hot(y, 4).double()
    rows = torch.cat([features, learner.ridge**0.5 * torch.eye(9)]), torch.cat([aims, torch.zeros(9, 4)])
    expected = torch.linalg.lstsq(*rows).solution
    torch.testing.assert_close(
        ridge_weights(learner.gram, learner.targets, learner.ridge), expected, rtol=1e-5, atol=1e-7
    )


def test_the_ridge_has_the_least_error_on_held_back_examples():
    torch.manual_seed(0)
    features, y = torch.rand(60, 8, dtype=torch.float64), torch.randint(0, 3, (60,))
    held = torch.arange(60) % EVERY == EVERY - 1
    fitted, back = (sums(features[part], y[part], 3) for part in (~held, held))
    errors = [
        (features[held] @ ridge_weights(*fitted, ridge) - torch.nn.functional.one_hot(y[held], 3)).square().sum()
        for ridge in RIDGES.tolist()
    ]
    assert best_ridge(*fitted, *back) == RIDGES[int(torch.stack(errors).argmin())]


def test_a_fifth_of_the_newest_task_is_held_back_and_nothing_of_it_kept(tiny):
    learner = RanPACSettings(width=6).build(tiny.stream, seed=0)
    seen = recorded(learner)
    tiny.learn(learner, 0, end=False)
    x, y = (torch.cat(parts) for parts in zip(*seen, strict=True))
    expected = sums(learner._features(x[EVERY - 1 :: EVERY]), y[EVERY - 1 :: EVERY], 4)
    torch.testing.assert_close((learner._held_gram, learner._held_targets), expected)
    learner.end()
    assert not learner._held_gram.any()
    assert len(learner.memory) == 0
    assert learner.stored_bytes()["newest_task"] == 0

"""Fixed bytes for all tasks: who becomes smaller, and what replay keeps."""

import dataclasses
from types import SimpleNamespace

import pytest
import torch

from merlin_cl.learners.merlin.consolidation import ReplaySet, consolidate, fitted
from merlin_cl.learners.merlin.distribution import TaskPrior, WeightDistribution
from merlin_cl.networks.bank import Bank

from .small import SMALL, STREAM, TASKS, examples, learn, learned


def tight(**changes):
    """MERLIN with less memory than three tasks would take."""
    learner = dataclasses.replace(SMALL, **changes).build(STREAM, seed=0)
    learner.distribution.memory = 900
    return learner


@pytest.mark.parametrize("how", ["replay", "cut", "oldest"])
def test_the_bytes_are_never_more_than_the_memory(how):
    learner = tight(consolidation=how)
    for task in TASKS:
        learn(learner, task)
        assert learner.distribution.bytes <= 900
        assert all(torch.isfinite(learner.logits(examples(task)[0])).flatten())


def test_the_largest_become_smaller_so_that_tasks_stay_alike():
    learner = learned(tight())
    components = [learner.distribution.prior(j).components for j in range(3)]
    assert min(components) >= 1
    assert max(components) - min(components) <= 1


@pytest.mark.parametrize(("statistics", "cut"), [((), 0), (("mean",), 1)])
def test_on_residual_networks_a_third_component_goes_before_a_second_however_long(statistics, cut):
    network = SimpleNamespace(statistics=statistics)
    short = SimpleNamespace(groups=[(0, 40)], short=None, network=network)
    sketch = SimpleNamespace(groups=[(0, 100)], short=short, network=network)
    two_long = TaskPrior.fitted(torch.randn(2, 100), torch.ones(2, 100), sketch)
    three_short = TaskPrior.fitted(torch.randn(3, 40), torch.ones(3, 40), sketch, short=True)
    assert two_long.bytes > three_short.bytes
    distribution = WeightDistribution(SimpleNamespace(sketch=sketch), memory=0)
    distribution.priors = [two_long, three_short]
    distribution.memory, before = distribution.bytes - 1, list(distribution.priors)
    consolidate(distribution, "cut", lambda _: None, torch.Generator())
    assert [new is not old for new, old in zip(distribution.priors, before, strict=True)] == [cut == 0, cut == 1]


def test_old_tasks_are_known_after_the_last_in_a_quarter_of_the_memory():
    learner = learned(tight())
    for task in TASKS:
        assert learner.probe(task.index, *examples(task))["sampled_ensemble"] > 90


def test_the_oldest_go_where_that_is_asked_for_and_the_next_answer_for_them():
    learner = tight(consolidation="oldest")
    learner.distribution.memory = 150
    learned(learner)
    assert learner.distribution.priors[0] is None
    assert learner.distribution.priors[-1] is not None
    assert learner.distribution.prior(0) is learner.distribution.prior(1)


def test_the_last_prior_is_never_given_up():
    learner = SMALL.build(STREAM, seed=0)
    learner.distribution.memory = 1
    for task in TASKS:
        learn(learner, task)
    assert learner.distribution.priors[-1] is not None


def disagreement_with_what_it_was(learner, prior, models, x):
    """Mean absolute difference of probabilities between a prior's mean models and other models, on inputs x."""
    outputs = learner.outputs(learner.seen)
    bank = Bank(learner.network, learner.distribution.decoder(prior.mean(learner.distribution.sketch)))
    both = [one.logits(x).masked_fill(~outputs, -1e10).softmax(dim=-1).mean(dim=0) for one in (bank, models)]
    return float((both[0] - both[1]).abs().mean())


def test_a_prior_fitted_by_replay_answers_more_as_before_than_one_that_is_cut():
    """On inputs that it was not fitted on."""
    learner = dataclasses.replace(SMALL, base_models=6, exemplars=40).build(STREAM, seed=0)
    learn(learner, TASKS[0])
    learn(learner, TASKS[1])
    distribution, (x, _) = learner.distribution, examples(TASKS[1])
    models = Bank(learner.network, distribution.mean(1))
    cut = distribution.prior(1)
    while cut.components > 1:
        cut = cut.smaller(distribution.sketch)
    assert isinstance(cut, TaskPrior)
    cut = cut.scaled(torch.full((1, 1), 0.7))  # as if rounding had drawn it towards its start
    replayed = fitted(cut, models, distribution, learner.replay_set(1), torch.Generator().manual_seed(0))
    wide = x + torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    assert disagreement_with_what_it_was(learner, replayed, models, wide) < disagreement_with_what_it_was(
        learner, cut, models, wide
    )
    assert replayed.bytes == cut.bytes


def test_without_exemplars_there_is_nothing_to_replay_on_and_nothing_changes():
    learner = learned(SMALL.build(STREAM, seed=0))
    prior = learner.distribution.prior(0)
    nothing = ReplaySet(torch.zeros(0, *STREAM.input_shape), torch.zeros(0), learner.outputs(learner.seen), False)
    models = Bank(learner.network, learner.distribution.mean(0))
    assert fitted(prior, models, learner.distribution, nothing, torch.Generator()) is prior


@pytest.mark.parametrize(("left", "fits"), [(2, True), (1, False)])
def test_fewer_exemplars_than_classes_do_not_teach_a_prior(left, fits):
    learner = learned(dataclasses.replace(SMALL, exemplars=12).build(STREAM, seed=0))
    kept = [int(place) for place in (learner.memory.tasks == 1).nonzero().flatten()[:left]]
    learner.memory.tasks[(learner.memory.tasks == 1).nonzero().flatten()] = 2
    learner.memory.tasks[kept] = 1
    distribution, before = learner.distribution, learner.distribution.prior(1)
    assert len(TASKS[1].classes) == 2
    models = Bank(learner.network, distribution.mean(1))
    cut = before.scaled(torch.full((before.components, 1), 0.7))
    after = fitted(cut, models, distribution, learner.replay_set(1), torch.Generator().manual_seed(0))
    assert torch.equal(after.means.units, cut.means.units) is not fits


def test_with_room_for_all_nothing_is_consolidated():
    learner = learned(SMALL.build(STREAM, seed=0))
    before = learner.state()["method"]["distribution"]
    consolidate(learner.distribution, "replay", learner.replay_set, torch.Generator())
    after = learner.state()["method"]["distribution"]
    for one, other in zip(before["priors"], after["priors"], strict=True):
        assert torch.equal(one["means"]["digits"], other["means"]["digits"])
        assert torch.equal(one["means"]["units"], other["means"]["units"])

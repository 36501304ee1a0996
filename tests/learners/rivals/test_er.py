"""Experience replay learns from what arrives and from what was kept, and from nothing twice."""

import copy

import torch

from merlin_cl.learners.rivals.er_ema_settings import EREMASettings
from merlin_cl.learners.rivals.er_settings import ERSettings
from merlin_cl.learners.rivals.single_settings import SingleSettings


def test_without_replay_it_is_a_single_network(tiny):
    plain = copy.deepcopy(tiny).learn(SingleSettings(weight_decay=0.0).build(tiny.stream, seed=0))
    without = copy.deepcopy(tiny).learn(ERSettings(replay=0).build(tiny.stream, seed=0))
    x, _ = tiny.batch(0)
    assert torch.equal(plain.logits(x), without.logits(x))


def test_a_batch_is_followed_by_exemplars_that_are_not_of_it(tiny, monkeypatch):
    learner = ERSettings(replay=4, exemplars=30, updates_per_batch=2).build(tiny.stream, seed=0)
    seen, step = [], learner.training.step
    monkeypatch.setattr(learner.training, "step", lambda x, y, allowed: (seen.append(x), step(x, y, allowed)))
    tiny.learn(learner)
    assert [len(x) for x in seen[:4]] == [5, 5, 9, 9]
    for x in seen:
        assert len(x.unique(dim=0)) == len(x)
    assert not torch.equal(seen[4][5:], seen[5][5:])  # each update draws anew


def test_averaged_weights_answer_and_the_others_learn_as_ever(tiny):
    plain = ERSettings().build(tiny.stream, seed=0)
    averaged = EREMASettings(averaging=0.9).build(tiny.stream, seed=0)
    updates, rows = 0, [plain.bank.weights.clone()]
    observe = plain._update
    plain._update = lambda x, y: (observe(x, y), rows.append(plain.bank.weights.clone()))
    copy.deepcopy(tiny).learn(plain)
    copy.deepcopy(tiny).learn(averaged)
    assert torch.equal(plain.bank.weights, averaged.bank.weights)
    mean = rows[0]
    for updates, row in enumerate(rows[1:], start=1):
        decay = min(0.9, updates / (updates + 10))
        mean = decay * mean + (1 - decay) * row
    torch.testing.assert_close(averaged._mean.weights, mean)
    x, _ = tiny.batch(0)
    assert torch.equal(averaged.logits(x), averaged.network.apply(averaged._mean.weights, x.unsqueeze(0))[0])

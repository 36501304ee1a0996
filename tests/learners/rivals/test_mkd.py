"""A slowly moving mean of the network teaches it, and both answer together."""

import copy

import torch

from merlin_cl.learners.rivals.er_settings import ERSettings
from merlin_cl.learners.rivals.mkd import divergence
from merlin_cl.learners.rivals.mkd_settings import MKDSettings

SMALL = {"hidden_units": (8,), "exemplars": 20, "replay": 5, "learning_rate": 1e-2}


def test_the_teacher_is_the_running_mean_of_the_weights(tiny):
    learner = MKDSettings(**SMALL, teacher_rate=0.25).build(tiny.stream, seed=0)
    rows, update = [learner.bank.weights.clone()], learner._update
    learner._update = lambda x, y: (update(x, y), rows.append(learner.bank.weights.clone()))
    tiny.learn(learner)
    mean = rows[0]
    for row in rows[1:]:
        mean = 0.75 * mean + 0.25 * row
    torch.testing.assert_close(learner._teacher.weights, mean)
    x, _ = tiny.batch(0)
    both = (learner.bank.weights + learner._teacher.weights) / 2
    torch.testing.assert_close(learner.logits(x), learner.network.apply(both, x.unsqueeze(0))[0])
    assert torch.equal(learner.ensemble().weights, both)


def test_without_a_teachers_weight_it_learns_as_replay_does(tiny):
    plain = copy.deepcopy(tiny).learn(ERSettings(**SMALL).build(tiny.stream, seed=0))
    taught = copy.deepcopy(tiny).learn(MKDSettings(**SMALL, strength=0.0).build(tiny.stream, seed=0))
    torch.testing.assert_close(taught.bank.weights, plain.bank.weights)


def test_the_divergence_is_that_of_softened_answers_among_the_allowed_classes():
    torch.manual_seed(0)
    logits, told, allowed = torch.randn(6, 4), torch.randn(6, 4), torch.tensor([True, True, False, True])
    assert float(divergence(told, told, allowed, 3.0)) == 0.0
    kept = allowed.nonzero().flatten()
    p, q = (each[:, kept].div(3).softmax(dim=1) for each in (told, logits))
    torch.testing.assert_close(divergence(logits, told, allowed, 3.0), 9 * (p * (p / q).log()).sum(dim=1).mean())


def test_the_weight_of_the_teacher_holds_the_network_back(tiny):
    free, held = (
        copy.deepcopy(tiny).learn(MKDSettings(**SMALL, strength=strength).build(tiny.stream, seed=0), 0)
        for strength in (0.0, 50.0)
    )
    initial = MKDSettings(**SMALL).build(tiny.stream, seed=0).bank.weights
    assert (held.bank.weights - initial).norm() < (free.bank.weights - initial).norm()

"""Experts along the depth of one network, each taught by itself, the last by the others."""

import pytest
import torch
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.rivals.mose import PER_CLASS, reverse_distillation
from merlin_cl.learners.rivals.mose_settings import MOSESettings
from merlin_cl.learners.rivals.nearest_mean import class_means
from merlin_cl.networks.cosine import CosineNetwork
from merlin_cl.networks.experts import DepthExperts, Said
from merlin_cl.networks.mlp import MLP

SMALL = {
    "hidden_units": (8, 6),
    "exemplars": 40,
    "replay": 16,
    "expert_width": 5,
    "projection": 4,
    "learning_rate": 1e-2,
}


def test_the_last_expert_learns_from_the_others_and_not_they_from_it():
    torch.manual_seed(0)
    features, student = torch.rand(3, 7, 5, requires_grad=True), torch.rand(7, 5, requires_grad=True)
    said = Said(torch.zeros(3, 7, 2), torch.zeros(3, 7, 4), features, student)
    loss = reverse_distillation(said)
    unit = [functional.normalize(each, dim=1) for each in (student, features[0], features[1])]
    torch.testing.assert_close(loss, (unit[0] - unit[1]).norm() + (unit[0] - unit[2]).norm())
    loss.backward()
    assert features.grad is None
    assert student.grad.abs().sum() > 0


def test_an_answer_is_the_nearest_mean_averaged_over_experts(tiny):
    learner = tiny.learn(MOSESettings(**SMALL).build(tiny.stream, seed=0))
    x, _ = tiny.batch(1)
    distances = []
    for expert in range(2):
        own = learner._features(learner.memory.x)[expert]
        means, _ = class_means(own, learner.memory.y, 4)
        distances.append(torch.cdist(learner._features(x)[expert], means).square())
    torch.testing.assert_close(learner.logits(x), -torch.stack(distances).mean(dim=0))


def test_batches_are_of_this_task_and_balanced_over_all(tiny, monkeypatch):
    learner = MOSESettings(**SMALL).build(tiny.stream, seed=0)
    tiny.learn(learner, 0)
    learner.begin(tiny.tasks[1])
    learner.observe(*tiny.batch(1))
    x, y = tiny.batch(1)
    _, new_y = learner._of_this_task(x, y)
    assert set(new_y.tolist()) <= {2, 3}
    assert len(new_y) == 8  # half of replay
    all_x, all_y = learner._balanced(x, y)
    assert len(all_y) == 16
    assert torch.equal(all_x[:5], x)  # half of all classes are new, and only five arrive
    assert set(all_y[5:].tolist()) <= {0, 1}
    assert len(all_y) - 5 <= PER_CLASS * 4


def test_all_classes_compete_in_the_first_task_and_its_own_on_what_arrives_later(tiny, monkeypatch):
    learner = MOSESettings(**SMALL, competing="all").build(tiny.stream, seed=0)
    masks, cross_entropy = [], learner.cross_entropy

    def recorded(logits, y, allowed=None):
        masks.append((learner.competing if allowed is None else allowed).nonzero().flatten().tolist())
        return cross_entropy(logits, y, allowed)

    monkeypatch.setattr(learner, "cross_entropy", recorded)
    tiny.learn(learner, 0)
    assert {tuple(mask) for mask in masks} == {(0, 1, 2, 3)}
    masks.clear()
    tiny.learn(learner, 1)
    assert masks[:2] == [[2, 3], [0, 1, 2, 3]]  # on what arrives, on the balanced batch


def test_nothing_is_learned_before_there_are_exemplars(tiny):
    learner = MOSESettings(**SMALL).build(tiny.stream, seed=0)
    before = learner.bank.weights.clone()
    learner.begin(tiny.tasks[0])
    learner.observe(*tiny.batch(0))
    assert torch.equal(learner.bank.weights, before)


def test_a_network_without_depth_to_read_is_refused(tiny):
    with pytest.raises(UsageError, match="mose needs at least one hidden layer"):
        MOSESettings(**{**SMALL, "hidden_units": ()}).build(tiny.stream, seed=0)
    with pytest.raises(UsageError, match="mlp or a resnet"):
        DepthExperts.of(CosineNetwork(MLP((3,), 4), 0.1), width=5, projection=4)

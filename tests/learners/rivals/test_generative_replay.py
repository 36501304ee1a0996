"""Generative replay: nothing is kept but networks, and they bring earlier tasks back."""

import copy

import pytest
import torch

from merlin_cl.errors import InputError
from merlin_cl.learners.rivals.generative_replay_settings import GenerativeReplaySettings

SMALL = {"likelihood": "gaussian", "latent": 2, "generator_hidden": 16, "learning_rate": 1e-2, "generator_rate": 1e-2}


def test_made_examples_have_the_labels_the_classifier_gave_before_the_task(tiny):
    learner = tiny.learn(GenerativeReplaySettings(**SMALL).build(tiny.stream, seed=0), end=False)
    made = learner._made()
    assert made.shape == (30, 3)
    old = learner._old_classifier.logits(made)[0, :, :2].argmax(1)
    assert torch.equal(learner._labels(made), old)


def test_the_copies_are_of_the_time_when_the_task_began(tiny):
    learner = tiny.learn(GenerativeReplaySettings(**SMALL).build(tiny.stream, seed=0), 0)
    classifier, generator = learner.bank.weights.clone(), learner._inputs.bank.weights.clone()
    tiny.learn(learner, 1, end=False)
    assert torch.equal(learner._old_classifier.weights, classifier)
    assert torch.equal(learner._old_inputs.bank.weights, generator)
    assert not torch.equal(learner.bank.weights, classifier)


def test_arriving_and_made_examples_weigh_one_to_the_number_of_earlier_tasks(tiny):
    learner = tiny.learn(GenerativeReplaySettings(**SMALL).build(tiny.stream, seed=0), end=False)
    x, y = tiny.batch(1)
    draws = learner._old_inputs.state()
    made = learner._made()
    labels = learner._labels(made)
    flat = learner.bank.weights.clone().requires_grad_()
    new, old = (learner.network.apply(flat, part.unsqueeze(0))[0] for part in (x, made))
    loss = torch.nn.functional.cross_entropy(new, y) / 2 + torch.nn.functional.cross_entropy(old, labels) / 2
    (expected,) = torch.autograd.grad(loss, flat)
    learner._old_inputs.restore(draws)
    learner._update(x, y)
    torch.testing.assert_close(learner.training.flat, expected)


def test_replay_keeps_what_a_network_without_it_forgets(tiny):
    """How often examples of the first task are still taken for one of its classes after the second."""

    def remembered(made):
        same = copy.deepcopy(tiny)
        learner = GenerativeReplaySettings(**SMALL, generator_updates=10).build(tiny.stream, seed=0)
        same.learn(learner, 0, batches=60)
        if not made:
            learner._made = lambda: torch.zeros(0, 3)
        same.learn(learner, 1, batches=60)
        x, _ = same.batch(0, size=400)
        return float((learner.logits(x).argmax(1) < 2).float().mean())

    assert remembered(made=True) > remembered(made=False) + 0.3


def test_numbers_that_are_no_pixels_are_refused_unless_told(tiny):
    learner = GenerativeReplaySettings().build(tiny.stream, seed=0)
    learner.begin(tiny.tasks[0])
    with pytest.raises(InputError, match=r"likelihood bernoulli needs numbers from 0 to 1.*gaussian takes any\."):
        learner.observe(*tiny.batch(0))

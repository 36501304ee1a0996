"""DER keeps the logits of first sight, and is drawn back to them."""

import pytest
import torch
from torch.nn import functional

from merlin_cl.learners.rivals.der_settings import DERPlusPlusSettings, DERSettings


@pytest.mark.parametrize("kind", [DERSettings, DERPlusPlusSettings])
def test_logits_are_those_of_the_time_of_sight(tiny, kind):
    learner = kind(exemplars=1000, updates_per_batch=3).build(tiny.stream, seed=0)
    at_sight = []
    for task in (0, 1):
        learner.begin(tiny.tasks[task])
        for _ in range(5):
            x, y = tiny.batch(task)
            at_sight.append(learner.bank.logits(x)[0].clone())
            learner.observe(x, y)
        learner.end()
    torch.testing.assert_close(learner.memory.notes, torch.cat(at_sight))
    assert not torch.allclose(learner.bank.logits(learner.memory.x)[0], learner.memory.notes, atol=1e-3)


def test_a_note_stays_with_its_exemplar(tiny):
    """In a memory that overflows: the logits of an exemplar are still the ones that it had."""
    learner = DERSettings(exemplars=7, learning_rate=0.0).build(tiny.stream, seed=0)
    tiny.learn(learner, batches=20)
    torch.testing.assert_close(learner.memory.notes, learner.bank.logits(learner.memory.x)[0])


@pytest.mark.parametrize(("kind", "labels"), [(DERSettings, False), (DERPlusPlusSettings, True)])
def test_the_loss_is_the_papers(tiny, kind, labels):
    """With a memory drawn whole, the gradient is that of the loss as the paper writes it."""
    learner = tiny.learn(kind(replay=1000, exemplars=20, alpha=0.3).build(tiny.stream, seed=0), end=False)
    x, y = tiny.batch(1)
    flat = learner.bank.weights.clone().requires_grad_()
    logits, old = (learner.network.apply(flat, inputs.unsqueeze(0))[0] for inputs in (x, learner.memory.x))
    loss = functional.cross_entropy(logits, y) + 0.3 * (old - learner.memory.notes).square().mean()
    if labels:
        loss = loss + 1.0 * functional.cross_entropy(old, learner.memory.y)
    (expected,) = torch.autograd.grad(loss, flat)
    learner._update(x, y)
    torch.testing.assert_close(learner.training.flat, expected)

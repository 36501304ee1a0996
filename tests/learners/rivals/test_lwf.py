"""LwF: a task is learned among its own classes, and old answers are kept on its examples."""

import copy

import torch

from merlin_cl.learners.rivals.lwf import distillation
from merlin_cl.learners.rivals.lwf_settings import LwFSettings


def test_distillation_is_the_cross_entropy_of_softened_answers():
    before, now = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
    allowed = torch.tensor([True, True, False, True])
    p, q = ((logits[:, allowed] / 2).softmax(1) for logits in (before, now))
    expected = -(p * q.log()).sum(1).mean()
    torch.testing.assert_close(distillation(now, before, allowed, 2.0), expected)


def test_distillation_is_least_where_the_answers_are_the_old_ones():
    before = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    now = before.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(distillation(now, before, torch.ones(4, dtype=torch.bool), 2.0), now)
    assert gradient.abs().max() < 1e-6


def test_old_answers_are_kept_on_new_examples(tiny):
    def drift(strength):
        same = copy.deepcopy(tiny)
        learner = same.learn(LwFSettings(strength=strength, learning_rate=1e-2).build(tiny.stream, seed=0), 0)
        x, _ = same.batch(1, size=50)
        before = learner.bank.logits(x)[0, :, :2].log_softmax(1)
        same.learn(learner, 1, batches=30)
        now = learner.bank.logits(x)[0, :, :2].log_softmax(1)
        return float((before.exp() * (before - now)).sum(1).mean())

    assert drift(10.0) < 0.1 * drift(0.0)


def test_a_new_task_is_learned_among_its_own_classes(tiny):
    """Without distillation the old classes' outputs have no gradient at all."""
    learner = tiny.learn(LwFSettings(strength=0.0).build(tiny.stream, seed=0), end=False)
    learner._update(*tiny.batch(1))
    gradient = learner.network.views(learner.training.flat)[learner.network.head[1]][0]
    assert (gradient[:2] == 0).all()
    assert (gradient[2:] != 0).all()

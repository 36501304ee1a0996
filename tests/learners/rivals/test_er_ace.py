"""ER-ACE: what arrives does not touch the outputs of classes that are not in the batch."""

import torch
from torch.nn import functional

from merlin_cl.learners.rivals.er_ace_settings import ERACESettings


def head_bias_gradient(learner, x, y):
    """The gradient that one update follows, at the head's bias: the sum of (probability - target) over examples."""
    seen = []
    update = learner.training.update
    learner.training.update = lambda: seen.append(learner.training.flat.clone())
    learner._update(x, y)
    learner.training.update = update
    return learner.network.views(seen[0])[learner.network.head[1]][0]


def test_arriving_examples_do_not_push_old_classes_down(tiny):
    learner = tiny.learn(ERACESettings(replay=0).build(tiny.stream, seed=0), end=False)
    gradient = head_bias_gradient(learner, *tiny.batch(1))
    assert (gradient[:2] == 0).all()
    assert (gradient[2:] != 0).all()


def test_exemplars_choose_among_all_classes_seen(tiny):
    learner = tiny.learn(ERACESettings(replay=200).build(tiny.stream, seed=0), end=False)
    x, y = tiny.batch(1)
    logits, old = learner.bank.logits(x)[0], learner.bank.logits(learner.memory.x)[0]
    present = sorted(set(y.tolist()))
    expected = (old.softmax(1) - functional.one_hot(learner.memory.y, 4)).mean(0)
    competing = logits[:, present].softmax(1) - functional.one_hot(y, 4)[:, present]
    expected[present] += competing.mean(0)
    torch.testing.assert_close(head_bias_gradient(learner, x, y), expected)

"""HNET: the hypernetwork learns the newest classifier and keeps the others."""

import copy

import pytest
import torch
from torch.nn import functional

from merlin_cl.learners.rivals.hnet_settings import HNETSettings
from merlin_cl.protocol import StreamInfo, TaskInfo

SMALL = {"hidden_units": (6,), "chunk": 10, "embedding": 4, "hidden": 8, "learning_rate": 1e-2}


def test_the_regulariser_keeps_the_outputs_of_earlier_tasks(tiny):
    def drift(strength):
        same = copy.deepcopy(tiny)
        learner = same.learn(HNETSettings(**SMALL, strength=strength).build(tiny.stream, seed=0), 0, batches=20)
        before = learner.generated(learner._bank.weights, 1)
        same.learn(learner, 1, batches=40)
        return float((learner.generated(learner._bank.weights, 1) - before).square().sum())

    assert drift(10.0) < 0.01 * drift(0.0)


@pytest.mark.parametrize("task", [0, 1])
def test_the_gradient_is_that_of_the_whole_loss(tiny, task):
    """Against autograd through hypernetwork and classifier at once."""
    learner = HNETSettings(**SMALL, strength=0.3).build(tiny.stream, seed=0)
    tiny.learn(learner, *range(task + 1), end=False)
    x, y = tiny.batch(task)
    flat = learner._bank.weights.clone().requires_grad_()
    generated = learner.hypernetwork.apply(flat, torch.eye(2)[None, : task + 1])[0]
    logits = learner.network.apply(generated[task : task + 1], x.unsqueeze(0))[0]
    loss = functional.cross_entropy(logits[:, 2 * task : 2 * task + 2], y - 2 * task)
    if task:
        loss = loss + 0.3 * (generated[0] - learner.generated(learner._before, 1)[0]).square().sum()
    (expected,) = torch.autograd.grad(loss, flat)
    learner.hypernetwork.views(expected)["tasks"][:, :task] = 0
    learner._update(x, y)
    torch.testing.assert_close(learner._training.flat, expected)


def test_embeddings_of_earlier_tasks_stay(tiny):
    learner = tiny.learn(HNETSettings(**SMALL).build(tiny.stream, seed=0), 0)
    before = learner.hypernetwork.views(learner._bank.weights.clone())["tasks"]
    tiny.learn(learner, 1)
    after = learner.hypernetwork.views(learner._bank.weights)["tasks"]
    assert torch.equal(before[0, 0], after[0, 0])
    assert not torch.equal(before[0, 1], after[0, 1])


def test_the_classifier_that_is_surest_answers(tiny):
    learner = tiny.learn(HNETSettings(**SMALL, updates_per_batch=4).build(tiny.stream, seed=0), batches=30)
    x, _ = tiny.batch(0, size=40)
    aware = [learner.logits(x, task=task, inference="aware")[:, [2 * task, 2 * task + 1]] for task in (0, 1)]
    entropy = torch.stack([-(logs.exp() * logs).sum(1) for logs in aware])
    chosen = learner.logits(x, inference="marginal").argmax(1) // 2
    assert torch.equal(chosen, entropy.argmin(0))


def test_generated_networks_begin_at_the_scale_of_drawn_ones():
    stream = StreamInfo("digits", (1, 28, 28), 10, 5)
    learner = HNETSettings().build(stream, seed=0)
    generated = learner.network.views(learner.generated(learner._bank.weights, 5))
    drawn = learner.network.views(learner.network.initial(5, torch.Generator().manual_seed(1)))
    for name in ("0.weight", "1.weight", "2.weight"):
        assert 0.5 < float(generated[name].std() / drawn[name].std()) < 2


def test_running_statistics_are_kept_for_each_task():
    stream = StreamInfo("images", (3, 8, 8), 4, 2)
    learner = HNETSettings(network="resnet", chunk=500, hidden=8, embedding=4).build(stream, seed=0)
    generator = torch.Generator().manual_seed(0)
    fresh = learner._classifiers[:, learner.network.learned :].clone()
    for task in (0, 1):
        learner.begin(TaskInfo(task, (2 * task, 2 * task + 1)))
        learner.observe(torch.rand(8, 3, 8, 8, generator=generator), torch.tensor([0, 1] * 4) + 2 * task)
        learner.end()
        statistics = learner._classifiers[:, learner.network.learned :]
        assert not torch.equal(statistics[task], fresh[task])
        assert torch.equal(statistics[task + 1 :], fresh[task + 1 :])
    x = torch.rand(5, 3, 8, 8, generator=generator)
    assert torch.isfinite(learner.logits(x)).all()

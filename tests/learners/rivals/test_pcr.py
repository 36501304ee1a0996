"""Inputs are compared with the proxies of the classes at hand, and with no others."""

import pytest
import torch
from torch.nn import functional

from merlin_cl.learners.rivals.pcr import proxy_contrast
from merlin_cl.learners.rivals.pcr_settings import PCRSettings

SMALL = {"hidden_units": (8,), "exemplars": 20, "replay": 5, "learning_rate": 1e-2}


def test_the_loss_is_the_share_of_an_inputs_proxies_among_those_of_all_inputs():
    torch.manual_seed(0)
    cosines, y = torch.randn(7, 5), torch.tensor([0, 2, 2, 3, 0, 0, 2])
    losses = []
    for at in range(7):
        others = cosines[at, y]  # one proxy for each input of the batch, [n]
        shares = others.log_softmax(dim=0)
        losses.append(-shares[y == y[at]].mean())
    torch.testing.assert_close(proxy_contrast(cosines, y), torch.stack(losses).mean())


def test_a_class_that_the_batch_lacks_keeps_its_proxy(tiny):
    learner = tiny.learn(PCRSettings(**SMALL).build(tiny.stream, seed=0), 0, end=False)
    head = learner.network.head[0]
    before = learner.network.views(learner.bank.weights)[head].clone()
    learner.observe(*tiny.batch(0))
    after = learner.network.views(learner.bank.weights)[head]
    moved = (after != before).any(dim=1)[0]
    assert moved.tolist() == [True, True, False, False]


def test_nothing_is_learned_before_there_are_exemplars(tiny):
    learner = PCRSettings(**SMALL).build(tiny.stream, seed=0)
    before = learner.bank.weights.clone()
    learner.begin(tiny.tasks[0])
    learner.observe(*tiny.batch(0))
    assert torch.equal(learner.bank.weights, before)
    learner.observe(*tiny.batch(0))
    assert not torch.equal(learner.bank.weights, before)


def test_an_answer_is_the_direction_of_the_nearest_proxy(tiny):
    learner = tiny.learn(PCRSettings(**SMALL, temperature=0.2).build(tiny.stream, seed=0))
    x, _ = tiny.batch(1)
    features = functional.normalize(learner.network.features(learner.bank.weights, x.unsqueeze(0))[0], dim=1)
    proxies = functional.normalize(learner.network.views(learner.bank.weights)[learner.network.head[0]][0], dim=0)
    torch.testing.assert_close(learner.logits(x), features @ proxies / 0.2)


@pytest.mark.parametrize(("augmentation", "inputs"), [("none", 8), ("shifts", 16)])
def test_every_input_has_a_second_view_where_there_is_one(augmentation, inputs, monkeypatch):
    from merlin_cl.protocol import StreamInfo, TaskInfo

    stream = StreamInfo("pictures", (1, 4, 4), classes=2, tasks=1)
    learner = PCRSettings(**SMALL, network="mlp", augmentation=augmentation).build(stream, seed=0)
    seen, forward = [], learner.forward
    monkeypatch.setattr(learner, "forward", lambda x: (seen.append(len(x)), forward(x))[1])
    learner.begin(TaskInfo(0, (0, 1)))
    for _ in range(3):
        learner.observe(torch.rand(3, 1, 4, 4), torch.tensor([0, 1, 0]))
    assert seen[-1] == inputs

"""iCaRL's herding order against brute force, its lists, its loss and its classifier."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.rivals.icarl import herded
from merlin_cl.learners.rivals.icarl_settings import ICaRLSettings
from merlin_cl.protocol import StreamInfo, TaskInfo


@settings(max_examples=30, deadline=None)
@given(size=st.integers(1, 12), count=st.integers(0, 14), seed=st.integers(0, 999))
def test_each_herded_example_brings_the_mean_nearest(size, count, seed):
    features = torch.randn(size, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    order, chosen = herded(features, count).tolist(), []
    assert len(order) == min(size, count)
    for place in order:
        distance = {
            other: float((features.mean(0) - features[[*chosen, other]].mean(0)).norm())
            for other in range(size)
            if other not in chosen
        }
        assert distance[place] <= min(distance.values()) + 1e-12
        chosen.append(place)


def test_every_class_has_the_same_number_and_lists_are_cut_from_their_end(tiny):
    learner = tiny.learn(ICaRLSettings(exemplars=22).build(tiny.stream, seed=0), 0, batches=20)
    first = {label: x.clone() for label, x in learner.lists.items()}
    assert {label: len(x) for label, x in first.items()} == {0: 11, 1: 11}
    tiny.learn(learner, 1, batches=20)
    assert {label: len(x) for label, x in learner.lists.items()} == {0: 5, 1: 5, 2: 5, 3: 5}
    for label, x in first.items():
        assert torch.equal(learner.lists[label], x[:5])


def test_lists_are_in_the_order_of_herding(tiny):
    learner = tiny.learn(ICaRLSettings(exemplars=30).build(tiny.stream, seed=0), 0, batches=20)
    for x in learner.lists.values():
        features = functional.normalize(learner.network.features(learner.bank.weights, x.unsqueeze(0))[0], dim=1)
        assert herded(features, len(x)).tolist() == list(range(len(x)))


def test_old_outputs_are_distilled_and_new_ones_learned(tiny):
    """The gradient is that of binary cross-entropy with old outputs as targets for old classes, labels for new ones."""
    learner = tiny.learn(ICaRLSettings(replay=0).build(tiny.stream, seed=0), end=False)
    x, y = tiny.batch(1)
    flat = learner.bank.weights.clone().requires_grad_()
    p = learner.network.apply(flat, x.unsqueeze(0))[0].sigmoid()
    q = functional.one_hot(y, 4).float()
    q[:, :2] = learner._before.logits(x)[0, :, :2].sigmoid()
    loss = -(q * p.log() + (1 - q) * (1 - p).log()).sum(1).mean()
    (expected,) = torch.autograd.grad(loss, flat)
    learner._update(x, y)
    torch.testing.assert_close(learner.training.flat, expected)


def test_an_answer_is_the_class_with_the_nearest_mean(tiny):
    learner = tiny.learn(ICaRLSettings(exemplars=20).build(tiny.stream, seed=0), batches=20)
    x, _ = tiny.batch(0, size=30)

    def features(x):
        return functional.normalize(learner.network.features(learner.bank.weights, x.unsqueeze(0))[0], dim=1)

    means = torch.stack([functional.normalize(features(learner.lists[label]).mean(0), dim=0) for label in range(4)])
    distances = (features(x)[:, None] - means[None]).norm(dim=2)
    assert torch.equal(learner.logits(x).argmax(1), distances.argmin(1))


def test_new_domains_are_refused_in_a_sentence():
    with pytest.raises(UsageError, match=r"^icarl learns new classes, but moons brings new domains .*\.$"):
        ICaRLSettings().build(StreamInfo("moons", (3,), 2, 2, domain_incremental=True), seed=0)


def test_a_budget_below_one_a_class_is_refused(tiny):
    with pytest.raises(UsageError, match="at least one for each of 4 classes"):
        ICaRLSettings(exemplars=3).build(tiny.stream, seed=0)


def test_a_full_memory_takes_classes_that_come_back(tiny):
    """Twenty exemplars, twenty-five examples, a task that ends, and one more example."""
    learner = tiny.learn(ICaRLSettings(exemplars=20).build(tiny.stream, seed=0), 0, batches=5)
    assert {label: len(x) for label, x in learner.lists.items()} == {0: 10, 1: 10}
    learner.begin(TaskInfo(1, (0,)))
    x, _ = tiny.batch(0, size=1)
    learner.observe(x, torch.tensor([0]))
    learner.end()
    assert {label: len(x) for label, x in learner.lists.items()} == {0: 10, 1: 10}
    assert torch.isfinite(learner.logits(x)).all()


def test_a_class_that_comes_back_is_herded_from_the_old_list_and_the_new_examples(tiny):
    learner = tiny.learn(ICaRLSettings(exemplars=30).build(tiny.stream, seed=0), 0, batches=1)
    before = learner.lists[0].clone()
    learner.begin(TaskInfo(1, (0,)))
    new = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))
    learner.observe(new, torch.zeros(4).long())
    learner.end()
    assert {tuple(row.tolist()) for row in learner.lists[0]} == {
        tuple(row.tolist()) for row in torch.cat([before, new])
    }


def test_a_class_that_comes_back_is_learned_by_its_label(tiny):
    learner = tiny.learn(ICaRLSettings(replay=0).build(tiny.stream, seed=0), 0)
    learner.begin(TaskInfo(1, (0,)))
    x, y = torch.randn(5, 3), torch.zeros(5).long()
    flat = learner.bank.weights.clone().requires_grad_()
    p = learner.network.apply(flat, x.unsqueeze(0))[0, :, :2].sigmoid()
    q = torch.stack([torch.ones(5), learner._before.logits(x)[0, :, 1].sigmoid()], dim=1)
    loss = -(q * p.log() + (1 - q) * (1 - p).log()).sum(1).mean()
    (expected,) = torch.autograd.grad(loss, flat)
    learner._update(x, y)
    torch.testing.assert_close(learner.training.flat, expected)

"""Means and one covariance are those of all examples, however they came."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.class_statistics import ClassStatistics

CPU = torch.device("cpu")


def examples(seed=0, count=40, classes=3, width=4):
    draws = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (count,), generator=draws)
    return torch.randn(count, width, generator=draws, dtype=torch.float64) + 3 * y.unsqueeze(1), y


def statistics(x, y, size, classes=3):
    kept = ClassStatistics(classes, x.shape[1], CPU)
    for start in range(0, len(y), size):
        kept.take(x[start : start + size], y[start : start + size])
    return kept


@settings(max_examples=20)
@given(size=st.integers(1, 40), seed=st.integers(0, 20))
def test_batches_and_order_do_not_matter(size, seed):
    x, y = examples(seed)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    kept = statistics(x[order], y[order], size)
    own = [x[y == label] for label in range(3)]
    torch.testing.assert_close(kept.counts.long(), torch.tensor([len(some) for some in own]))
    for label, some in enumerate(own):
        if len(some):
            torch.testing.assert_close(kept.means[label], some.mean(dim=0))
    scatter = sum((some - some.mean(dim=0)).T @ (some - some.mean(dim=0)) for some in own if len(some))
    torch.testing.assert_close(kept.scatter, scatter)


def test_the_discriminant_of_round_classes_is_the_nearest_mean():
    x, y = examples(count=400)
    kept = statistics(x, y, 400)
    nearest = torch.cdist(x, kept.means).argmin(dim=1)
    assert torch.equal(kept.discriminants(x, shrinkage=1.0).argmax(dim=1), nearest)


def test_what_is_restored_answers_alike_and_learns_on_alike():
    x, y = examples()
    one = statistics(x[:20], y[:20], 5)
    other = ClassStatistics(3, 4, CPU)
    other.restore(one.state())
    for kept in (one, other):
        kept.take(x[20:], y[20:])
    assert torch.equal(one.discriminants(x, 0.1), other.discriminants(x, 0.1))

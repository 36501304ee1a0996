"""GSS keeps examples whose gradients differ."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.rivals.gss import most_diverse, shares
from merlin_cl.learners.rivals.gss_settings import GSSSettings


def summed(similarity, places):
    return float(similarity[places][:, places].sum())


def least(similarity, count):
    return min(summed(similarity, list(places)) for places in combinations(range(len(similarity)), count))


def similarities(size, width, seed):
    generator = torch.Generator().manual_seed(seed)
    unit = functional.normalize(torch.randn(size, width, generator=generator, dtype=torch.float64), dim=1)
    return unit @ unit.T


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 60), share=st.floats(0.05, 1), width=st.integers(1, 80), seed=st.integers(0, 9999))
def test_the_relaxed_program_is_solved_exactly(size, share, width, seed):
    """By the conditions of Karush, Kuhn and Tucker."""
    gram, count = similarities(size, width, seed).numpy(), max(1, int(share * size))
    s = shares(gram, count)
    assert s.sum() == pytest.approx(count, abs=1e-5)
    assert s.min() >= -1e-6
    assert s.max() <= 1 + 1e-6
    slope = gram @ s + 1e-6 * s
    between = (s > 1e-5) & (s < 1 - 1e-5)  # where neither bound binds, the slope is the sum's multiplier
    ends = slope[s >= 1 - 1e-5], slope[s <= 1e-5]
    low, high = max(ends[0], default=-np.inf), min(ends[1], default=np.inf)
    assert low <= high + 1e-5
    if between.any():
        multiplier = slope[between].mean()
        np.testing.assert_allclose(slope[between], multiplier, atol=1e-5)
        assert low - 1e-5 <= multiplier <= high + 1e-5


@settings(max_examples=60, deadline=None)
@given(size=st.integers(2, 10), share=st.floats(0.2, 0.9), width=st.integers(2, 8), seed=st.integers(0, 9999))
def test_exchanges_do_not_improve_what_the_program_chooses(size, share, width, seed):
    similarity, count = similarities(size, width, seed), max(1, int(share * size))
    chosen = most_diverse(similarity, count)
    assert len(set(chosen)) == count
    others = set(range(size)) - set(chosen)
    for leaving in chosen:
        for coming in others:
            exchanged = [place for place in chosen if place != leaving] + [coming]
            assert summed(similarity, chosen) <= summed(similarity, exchanged) + 1e-8


def gradients(learner, x, y):
    """One backward pass an example."""
    rows = []
    for at in range(len(y)):
        flat = learner.bank.weights.clone().requires_grad_()
        logits = learner.network.apply(flat, x[at].view(1, 1, 3))[0, :, learner.seen]
        labels = torch.tensor([learner.seen.index(int(y[at]))])
        rows.append(torch.autograd.grad(functional.cross_entropy(logits, labels), flat)[0][0])
    return torch.stack(rows)


@pytest.mark.parametrize("seed", range(5))
def test_the_memory_is_the_most_diverse_of_all_subsets(tiny, seed):
    """Ten examples, six to be kept: all 210 choices are tried."""
    learner = GSSSettings(selection="integer", exemplars=10, recent=4).build(tiny.stream, seed=seed)
    learner.begin(tiny.tasks[0])
    batches = [tiny.batch(0) for _ in range(2)]
    for x, y in batches:
        learner.observe(x, y)
    x, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    unit = functional.normalize(gradients(learner, x, y), dim=1)
    assert torch.equal(learner.memory.x, x)  # as yet there is room for all
    learner._remember(*tiny.batch(0, size=1))
    kept = [(x == row).all(1).nonzero().item() for row in learner.memory.x[:6]]
    assert len(learner.memory) == 7
    assert summed(unit @ unit.T, kept) == pytest.approx(least(unit @ unit.T, 6), abs=1e-5)


def test_a_full_memory_takes_no_newcomer_whose_gradient_points_as_an_exemplars_does(tiny):
    learner = GSSSettings(exemplars=8, compared=8).build(tiny.stream, seed=0)
    tiny.learn(learner, 0, batches=2, end=False)
    held = learner.memory.x.clone()
    for _ in range(20):
        learner._remember(held, learner.memory.y)
    assert torch.equal(learner.memory.x, held)


def test_scores_are_one_more_than_the_greatest_cosine(tiny):
    learner = GSSSettings(exemplars=8, compared=8).build(tiny.stream, seed=0)
    learner.begin(tiny.tasks[0])
    x, y = tiny.batch(0, size=6)
    learner._remember(x[:3], y[:3])
    assert (learner.memory.notes == 1).all()  # nothing to compare with
    learner._remember(x[3:], y[3:])
    unit = functional.normalize(gradients(learner, x, y), dim=1)
    torch.testing.assert_close(learner.memory.notes[3:, 0], 1 + (unit[3:] @ unit[:3].T).amax(1))


def test_a_newcomer_replaces_with_the_probability_of_the_paper(tiny):
    """Scores of 1.5 held and 0.5 coming: replaced in three of four cases; the place drawn by score."""
    learner = GSSSettings(exemplars=3).build(tiny.stream, seed=0)
    for score in (1.5, 1.5, 0.0):
        learner.memory.put(len(learner.memory), torch.zeros(3), 0, 0, torch.tensor([score]))
    places = [learner._replaced(0.5) for _ in range(2000)]
    assert 2 not in places
    assert sum(place is not None for place in places) / 2000 == pytest.approx(0.75, abs=0.045)  # 4.6 sigma
    assert places.count(0) / 2000 == pytest.approx(0.375, abs=0.05)


def test_a_recent_part_that_leaves_no_memory_is_refused():
    with pytest.raises(UsageError, match="recent is 50"):
        GSSSettings(selection="integer", exemplars=50)

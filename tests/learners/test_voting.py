"""Votes against hand-worked cases."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.learners.voting import vote

EVERYTHING = torch.ones(1, 3, dtype=torch.bool)
# Two members lean a little to class 0, one is sure of class 1.
LOGITS = torch.tensor([[[1.0, 0.5, -9.0]], [[1.0, 0.5, -9.0]], [[-5.0, 5.0, -9.0]]])  # [3 members, 1 input, 3 classes]


def test_majority_counts_members():
    assert vote(LOGITS, EVERYTHING, "majority").argmax().item() == 0


def test_mean_probability_heeds_certainty():
    scores = vote(LOGITS, EVERYTHING, "mean-probability")[0, 0]
    assert scores.argmax().item() == 1
    torch.testing.assert_close(scores.exp(), LOGITS.softmax(-1).mean(0)[0])


def test_summed_logits():
    torch.testing.assert_close(vote(LOGITS, EVERYTHING, "sum-logits")[0, 0], LOGITS.mean(0)[0])


def test_majority_breaks_ties_by_probability():
    tie = torch.tensor([[[0.1, 0.0]], [[0.0, 3.0]]])
    assert vote(tie, torch.ones(1, 2, dtype=torch.bool), "majority").argmax().item() == 1


@settings(max_examples=40, deadline=None)
@given(
    members=st.integers(1, 6),
    seed=st.integers(0, 999),
    how=st.sampled_from(["majority", "mean-probability", "sum-logits"]),
    masks=st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=3),
)
def test_a_vote_among_some_classes_is_the_vote_of_members_that_know_no_others(members, seed, how, masks):
    logits = torch.randn(members, 7, 5, generator=torch.Generator().manual_seed(seed))
    allowed = torch.zeros(len(masks), 5, dtype=torch.bool)
    for row, mask in zip(allowed, masks, strict=True):
        row[list(mask)] = True
    scores = vote(logits, allowed, how)
    for row, mask in zip(scores, masks, strict=True):
        classes = sorted(mask)
        only = vote(logits[:, :, classes], torch.ones(1, len(classes), dtype=torch.bool), how)[0]
        torch.testing.assert_close(row[:, classes], only)
        assert torch.isin(row.argmax(dim=1), torch.tensor(classes)).all()

"""Votes against hand-worked cases."""

from typing import get_args

import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from merlin_cl.learners.ensemble_settings import Vote
from merlin_cl.learners.voting import vote

EVERYTHING = torch.ones(1, 3, dtype=torch.bool)
# Two members lean a little to class 0, one is sure of class 1.
LOGITS = torch.tensor([[[1.0, 0.5, -9.0]], [[1.0, 0.5, -9.0]], [[-5.0, 5.0, -9.0]]])  # [3 members, 1 input, 3 classes]


def test_majority_counts_members():
    assert vote(LOGITS, EVERYTHING, "majority").argmax().item() == 0


def test_a_majority_s_probabilities_are_shares_of_votes_half_a_vote_going_by_the_mean_probability():
    shares = (torch.tensor([2.0, 1.0, 0.0]) + LOGITS.softmax(-1).mean(0)[0] / 2) / 3.5
    torch.testing.assert_close(vote(LOGITS, EVERYTHING, "majority")[0, 0].softmax(dim=-1), shares)


def test_mean_probability_heeds_certainty():
    scores = vote(LOGITS, EVERYTHING, "mean-probability")[0, 0]
    assert scores.argmax().item() == 1
    torch.testing.assert_close(scores.exp(), LOGITS.softmax(-1).mean(0)[0])


def test_summed_logits():
    torch.testing.assert_close(vote(LOGITS, EVERYTHING, "sum-logits")[0, 0], LOGITS.mean(0)[0])


def test_majority_breaks_ties_by_probability():
    tie = torch.tensor([[[0.1, 0.0]], [[0.0, 3.0]]])
    assert vote(tie, torch.ones(1, 2, dtype=torch.bool), "majority").argmax().item() == 1


def agreed(*members):
    """The probabilities that members with these agree on, for one input."""
    logits = torch.tensor(members).unsqueeze(1).log()
    return vote(logits, torch.ones(1, logits.shape[-1], dtype=torch.bool), "agreement")[0, 0].exp()


def test_agreement_weighs_members_by_their_overlap_with_the_others():
    """The others' means are (.45, .55), (.5, .5) and (.85, .15): overlaps .55, .7 and .25."""
    weighed = agreed([0.9, 0.1], [0.8, 0.2], [0.1, 0.9])
    first = (0.55 * 0.9 + 0.7 * 0.8 + 0.25 * 0.1) / (0.55 + 0.7 + 0.25)
    torch.testing.assert_close(weighed, torch.tensor([first, 1 - first]))


def test_members_that_exclude_each_other_count_alike():
    torch.testing.assert_close(agreed([1.0, 0.0], [0.0, 1.0]), torch.tensor([0.5, 0.5]))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), members=st.integers(1, 6), how=st.sampled_from(["agreement", "mean-probability"]))
def test_members_of_one_mind_answer_as_each_of_them(seed, members, how):
    one = 3 * torch.randn(1, 5, 4, generator=torch.Generator().manual_seed(seed))
    scores = vote(one.expand(members, -1, -1), torch.ones(1, 4, dtype=torch.bool), how)[0]
    torch.testing.assert_close(scores.softmax(dim=-1), one[0].softmax(dim=-1))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), members=st.integers(3, 8))
def test_agreement_discounts_an_outlier(seed, members):
    """All but one lean to class 0; the last is sure of class 1, and counts less than in the plain mean."""
    logits = 0.1 * torch.randn(members, 6, 3, generator=torch.Generator().manual_seed(seed))
    logits[:-1, :, 0] += 2
    logits[-1, :, 1] += 9
    plain, weighted = (vote(logits, EVERYTHING, how)[0].exp() for how in ("mean-probability", "agreement"))
    assert (weighted[:, 1] < plain[:, 1]).all()
    assert (weighted[:, 0] > plain[:, 0]).all()


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), members=st.integers(1, 6))
def test_agreement_does_not_depend_on_the_order_of_members_and_gives_probabilities(seed, members):
    logits = 5 * torch.randn(members, 6, 3, generator=torch.Generator().manual_seed(seed))
    straight, flipped = (vote(members, EVERYTHING, "agreement").exp() for members in (logits, logits.flip(0)))
    torch.testing.assert_close(straight, flipped)
    torch.testing.assert_close(straight.sum(dim=-1), torch.ones(1, 6))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 999), members=st.integers(1, 6))
@example(seed=444, members=3)  # of which each is all but sure of another class
def test_agreement_loses_no_digits_where_members_all_but_exclude_each_other(seed, members):
    logits = 5 * torch.randn(members, 6, 3, generator=torch.Generator().manual_seed(seed))
    single, double = (vote(members, EVERYTHING, "agreement").exp() for members in (logits, logits.double()))
    torch.testing.assert_close(single, double.float())


@settings(max_examples=40, deadline=None)
@given(
    members=st.integers(1, 6),
    seed=st.integers(0, 999),
    how=st.sampled_from(get_args(Vote)),
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

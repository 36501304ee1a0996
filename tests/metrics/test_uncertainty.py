"""Measures of probabilities: worked by hand, beside scikit-learn's, and by what must hold whatever the numbers are."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from merlin_cl.errors import InputError
from merlin_cl.metrics import uncertainty

# Four answers among three classes, the third wrong. Probabilities of the true classes: 0.7, 0.5, 0.25, 1.
PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])
LABELS = np.array([0, 0, 2, 2])
# Sorted by confidence: 0.4 wrong, 0.6 right, 0.7 wrong, 0.9 right, 0.9 right.
CONFIDENCE, CORRECT = [0.9, 0.4, 0.7, 0.6, 0.9], [True, False, False, True, True]


def test_likelihood_and_brier_score_by_hand():
    assert uncertainty.negative_log_likelihood(PROBABILITIES, LABELS) == pytest.approx(
        (math.log(1 / 0.7) + math.log(2) + math.log(4)) / 4
    )
    # 0.09 + 0.04 + 0.01, then 0.25 + 0.25, then 0.0625 + 0.25 + 0.5625, then 0
    assert uncertainty.squared_errors(PROBABILITIES, LABELS) == pytest.approx([0.14, 0.5, 0.875, 0.0])
    assert uncertainty.brier_score(PROBABILITIES, LABELS) == pytest.approx(1.515 / 4)


def test_a_class_that_was_ruled_out_costs_a_bounded_amount():
    assert uncertainty.log_losses([[1.0, 0.0]], [1]) == pytest.approx([-math.log(2**-52)])
    assert uncertainty.squared_errors([[1.0, 0.0]], [1]) == pytest.approx([2.0])


def test_bins_of_equal_mass_by_hand():
    assert uncertainty.reliability(CONFIDENCE, CORRECT, bins=2) == [
        uncertainty.Bin(3, pytest.approx(1.7 / 3), pytest.approx(1 / 3)),
        uncertainty.Bin(2, pytest.approx(0.9), 1.0),
    ]
    expected = 3 / 5 * abs(1.7 / 3 - 1 / 3) + 2 / 5 * 0.1
    assert uncertainty.expected_calibration_error(CONFIDENCE, CORRECT, bins=2) == pytest.approx(expected)
    assert len(uncertainty.reliability(CONFIDENCE, CORRECT)) == 5  # no more bins than examples


def test_risk_against_coverage_by_hand():
    risks = uncertainty.risk_coverage(CONFIDENCE, CORRECT)
    assert risks == pytest.approx([0, 0, 1 / 3, 1 / 4, 2 / 5])
    assert uncertainty.risk_coverage_area(CONFIDENCE, CORRECT) == pytest.approx((1 / 3 + 1 / 4 + 2 / 5) / 5)
    # Of five examples 10 and 20 % are one, 30 and 40 % two, and so on.
    assert uncertainty.risks_at(risks, np.arange(1, 11) / 10) == pytest.approx(
        np.repeat([0, 0, 1 / 3, 1 / 4, 2 / 5], 2)
    )


def test_auroc_by_hand():
    # 0.4 is above both, 0.2 above one and level with the other: 1 + 1 + 1 + 1/2 of four pairs.
    assert uncertainty.auroc([0.1, 0.2], [0.4, 0.2]) == 3.5 / 4
    assert uncertainty.auroc([1, 2, 3], [4]) == 1.0
    assert uncertainty.auroc([5, 5], [5, 5, 5]) == 0.5


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (
            lambda: uncertainty.brier_score([[0.5, 0.5]], [0, 1]),
            r"shape \(1, 2\) and labels \(2,\); give \[N, classes\]",
        ),
        (lambda: uncertainty.negative_log_likelihood(np.zeros((0, 3)), []), "at least one example"),
        (lambda: uncertainty.reliability([], []), "at least one example"),
        (lambda: uncertainty.risk_coverage([0.5], [True, False]), r"correct answers \(2,\)"),
        (lambda: uncertainty.reliability([0.5], [True], bins=0), "bins is 0; at least one"),
        (lambda: uncertainty.risks_at([0.5], [0.0]), "must be above 0"),
        (lambda: uncertainty.auroc([], [1.0]), "known inputs have no values"),
        (lambda: uncertainty.auroc([1.0], [math.nan]), "other inputs have NaN"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(attempt, sentence):
    with pytest.raises(InputError, match=sentence):
        attempt()


@st.composite
def answers(draw):
    """Probabilities and labels of some examples, certain and even ones among them."""
    seed, count, classes = draw(st.integers(0, 9999)), draw(st.integers(2, 60)), draw(st.integers(2, 6))
    random = np.random.default_rng(seed)
    logits = draw(st.sampled_from([0.0, 1.0, 30.0, 3000.0])) * random.standard_normal((count, classes))
    logits = logits.round(draw(st.sampled_from([0, 6])))  # some are equal
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True), random.integers(0, classes, count)


@st.composite
def sure_answers(draw):
    probabilities, labels = draw(answers())
    return probabilities.max(axis=1), probabilities.argmax(axis=1) == labels


@settings(deadline=None)
@given(answers())
def test_likelihood_and_brier_score_are_scikit_learn_s(given_answers):
    probabilities, labels = given_answers
    classes = range(probabilities.shape[1])
    assert uncertainty.negative_log_likelihood(probabilities, labels) == pytest.approx(
        log_loss(labels, probabilities, labels=classes), rel=1e-6, abs=1e-9
    )
    assert uncertainty.brier_score(probabilities, labels) == pytest.approx(
        brier_score_loss(labels, probabilities, labels=classes, scale_by_half=False), abs=1e-9
    )


kinds = st.tuples(*[st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=40)] * 2)


@settings(deadline=None)
@given(kinds)
def test_auroc_is_scikit_learn_s(both):
    known, other = both
    labels = [0] * len(known) + [1] * len(other)
    assert uncertainty.auroc(known, other) == pytest.approx(roc_auc_score(labels, [*known, *other]))


@given(kinds, st.floats(0.1, 10), st.floats(-10, 10))
def test_auroc_asks_for_the_order_alone(both, factor, shift):
    known, other = map(np.array, both)
    plain = uncertainty.auroc(known, other)
    for monotone in (lambda u: factor * u + shift, np.exp, np.arctan):
        assert uncertainty.auroc(monotone(known), monotone(other)) == plain
    assert uncertainty.auroc(-known, -other) == pytest.approx(1 - plain)
    assert uncertainty.auroc(other, known) == pytest.approx(1 - plain)


def test_who_is_sure_and_wrong_everywhere_is_off_by_one_and_no_more():
    sure, wrong = np.ones(11), np.zeros(11, dtype=bool)
    assert uncertainty.calibration_error(uncertainty.reliability(sure, wrong, 9)) == 1


@given(sure_answers(), st.integers(1, 20), st.randoms(use_true_random=False))
def test_calibration_is_a_share_and_the_order_of_examples_does_not_matter(sure, bins, random):
    confidence, correct = sure
    bars = uncertainty.reliability(confidence, correct, bins)
    counts = [one.count for one in bars]
    assert sum(counts) == len(correct)
    assert max(counts) - min(counts) <= 1
    assert (np.diff([one.confidence for one in bars]) > -1e-12).all()
    assert 0 <= uncertainty.calibration_error(bars) <= 1
    order = random.sample(range(len(correct)), len(correct))
    assert uncertainty.reliability(confidence[order], correct[order], bins) == bars
    assert np.array_equal(
        uncertainty.risk_coverage(confidence[order], correct[order]), uncertainty.risk_coverage(confidence, correct)
    )


@given(sure_answers())
def test_more_bins_never_hide_what_one_bin_shows(sure):
    confidence, correct = sure
    overall = abs(confidence.mean() - correct.mean())
    assert uncertainty.expected_calibration_error(confidence, correct, bins=1) == pytest.approx(overall)
    assert uncertainty.expected_calibration_error(confidence, correct) >= overall - 1e-9


@given(sure_answers())
def test_at_full_coverage_the_risk_is_the_error_and_it_asks_for_the_order_alone(sure):
    confidence, correct = sure
    risks = uncertainty.risk_coverage(confidence, correct)
    assert risks[-1] == pytest.approx(1 - correct.mean())
    assert ((risks >= 0) & (risks <= 1 + 1e-12)).all()
    assert np.array_equal(uncertainty.risk_coverage(confidence**2 / 3, correct), risks)
    # Nobody orders answers better than somebody who knows which ones are right.
    assert (
        uncertainty.risk_coverage_area(confidence, correct) >= uncertainty.risk_coverage_area(correct, correct) - 1e-9
    )


@pytest.mark.parametrize("classes", [2, 10])
def test_who_draws_the_truth_from_the_probabilities_given_is_calibrated(classes):
    random = np.random.default_rng(0)
    probabilities = random.dirichlet(np.full(classes, 0.5), size=40_000)
    labels = (probabilities.cumsum(axis=1) < random.random((len(probabilities), 1))).sum(axis=1)
    confidence, correct = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    assert uncertainty.expected_calibration_error(confidence, correct) < 0.015
    assert uncertainty.expected_calibration_error(np.sqrt(confidence), correct) > 0.05  # too sure
    # Their own entropy is the least that anybody's likelihood of these labels can come to.
    entropy = -(probabilities * np.log(probabilities)).sum(axis=1).mean()
    assert uncertainty.negative_log_likelihood(probabilities, labels) == pytest.approx(entropy, abs=0.02)

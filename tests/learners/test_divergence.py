"""No learner answers with a number that is not finite: it answers finitely, or says in a sentence what went wrong."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl import ContinualClassifier
from merlin_cl.errors import DivergenceError, InputError, UsageError
from merlin_cl.learners.divergence import LARGEST_INPUT
from merlin_cl.learners.learner import LOWEST, _above_masked
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.agem_settings import AGEMSettings
from merlin_cl.learners.rivals.er_settings import ERSettings
from merlin_cl.learners.rivals.ewc_settings import EWCSettings
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.learners.rivals.gem_settings import GEMSettings
from merlin_cl.learners.rivals.icarl_settings import ICaRLSettings
from merlin_cl.learners.rivals.joint_settings import JointSettings
from merlin_cl.learners.rivals.single import Single
from merlin_cl.learners.rivals.single_settings import SingleSettings
from merlin_cl.learners.rivals.slda_settings import SLDASettings
from merlin_cl.protocol import StreamInfo, TaskInfo
from merlin_cl.tensors import MASKED

STREAM = StreamInfo("two tasks", (3,), classes=4, tasks=2)
SMALL = {"hidden_units": (4,)}
RATED = [SingleSettings, JointSettings, ERSettings, AGEMSettings, GEMSettings, ICaRLSettings, EWCSettings]


def learned(learner, scale=1.0, batches=1):
    """Two tasks of so many times eight examples, about as large as `scale`."""
    draws = torch.Generator().manual_seed(0)
    for index in range(2):
        y = torch.tensor([2 * index, 2 * index + 1] * 4)
        learner.begin(TaskInfo(index, (2 * index, 2 * index + 1)))
        for _ in range(batches):
            learner.observe(scale * (torch.randn(8, 3, generator=draws, dtype=torch.float64) + y.unsqueeze(1)), y)
        learner.end()
    return learner


@settings(max_examples=40, deadline=None)
@given(kind=st.sampled_from(RATED), rate=st.floats(-6, 38), size=st.floats(-38, 38), more=st.floats(-38, 38))
def test_whatever_the_rate_and_the_inputs_answers_are_finite_or_refused_in_a_sentence(kind, rate, size, more):
    answers, refusal = torch.zeros(0), "."
    try:
        learner = learned(kind(**SMALL, learning_rate=10**rate).build(STREAM, seed=0), scale=10**size)
        answers = learner.logits(10**more * torch.ones(2, 3, dtype=torch.float64))
    except (DivergenceError, InputError) as error:
        refusal = str(error)
    assert torch.isfinite(answers).all()
    assert refusal.endswith(".")


@pytest.mark.parametrize("kind", RATED)
def test_a_rate_that_is_far_too_large_is_named(kind):
    learner = kind(**SMALL, learning_rate=1e30, optimiser="sgd").build(STREAM, seed=0)
    with pytest.raises(DivergenceError, match=r"diverged while .*; lower learning_rate \(1e\+30\), and begin anew\.$"):
        learned(learner).logits(torch.ones(2, 3))


@pytest.mark.parametrize("kind", RATED)
@pytest.mark.parametrize("rate", [math.inf, math.nan])
def test_a_rate_that_is_no_number_is_refused(kind, rate):
    with pytest.raises(UsageError, match=r"^learning_rate is (inf|nan); it must be [^\n]*\.$"):
        kind(**SMALL, learning_rate=rate)


@pytest.mark.parametrize("kind", [GEMSettings, AGEMSettings])
def test_inputs_of_ten_thousand_are_named_where_plain_descent_diverges(kind):
    with pytest.raises(
        DivergenceError, match=r"scale the inputs, of which the largest is [1-9].*e\+04, to about 1, or lower"
    ):
        learned(kind().build(STREAM, seed=0), scale=1e4, batches=10)


def test_an_ensemble_that_diverges_when_it_is_fitted_says_so():
    learner = learned(GDumbEnsembleSettings(**SMALL, models=2, fine_tune_rate=1e30).build(STREAM, seed=0))
    sentence = r"^gdumb-ensemble diverged while fitting networks to its exemplars.* fine_tune_rate \(1e\+30\)"
    for ask in (
        lambda: learner.logits(torch.ones(2, 3)),
        lambda: learner.uncertainty(torch.ones(2, 3)),
        learner.ensemble,
    ):
        with pytest.raises(DivergenceError, match=sentence):
            ask()


def test_merlin_s_base_models_are_looked_at_before_their_distribution_is_learned():
    learner = MerlinSettings(**SMALL, base_models=2, learning_rate=1e30).build(STREAM, seed=0)
    with pytest.raises(
        DivergenceError, match=r"^merlin diverged while learning task 0.* lower learning_rate \(1e\+30\)"
    ):
        learned(learner)
    assert learner.phases.losses == {}


def test_a_learner_that_has_diverged_is_not_saved(tmp_path):
    model = ContinualClassifier("er", settings={**SMALL, "learning_rate": 1e30, "optimiser": "sgd"})
    model.partial_fit(torch.randn(20, 3).numpy(), [0, 1] * 10)
    with pytest.raises(DivergenceError, match=r"^er diverged while learning, .*lower learning_rate \(1e\+30\)"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_inputs_too_large_for_what_was_learned_are_named_and_the_learner_goes_on(monkeypatch):
    whole = Single._answers
    monkeypatch.setattr(Single, "_answers", lambda self, x, *question: whole(self, x, *question) * x.float().max() ** 3)
    learner = learned(SingleSettings(**SMALL).build(STREAM, seed=0))
    with pytest.raises(InputError, match=r"^single has no finite answer to inputs as large as 1e\+14; scale them as"):
        learner.logits(torch.full((2, 3), 1e14, dtype=torch.float64))
    assert torch.isfinite(learner.logits(torch.ones(2, 3))).all()


def test_a_row_that_is_too_large_leaves_no_trace():
    learner, x = learned(SLDASettings().build(STREAM, seed=0)), torch.randn(4, 3)
    before = learner.logits(x)
    learner = SLDASettings().build(StreamInfo("more", (3,), 4, 3), seed=0)
    learned(learner).begin(TaskInfo(2, (0,)))
    for value in (3e38, 1e300, 2 * LARGEST_INPUT):
        with pytest.raises(InputError, match=r"^Inputs hold a number of size .*; scale inputs to about 1 first\.$"):
            learner.observe(torch.full((1, 3), value, dtype=torch.float64), torch.tensor([0]))
    assert torch.equal(learner.logits(x), before)


class Failing(Single):
    """Fails as it is told to."""

    failure: Exception = ValueError("The cat is on the keyboard.")
    weight = 1.0

    def _update(self, x, y):
        self.bank.weights.fill_(self.weight)
        raise self.failure


def failing(**told):
    return type("Failing", (Failing,), told)(STREAM, SingleSettings(**SMALL), seed=0)


def test_what_has_nothing_to_do_with_numbers_is_not_called_divergence():
    with pytest.raises(ValueError, match=r"^The cat is on the keyboard\.$"):
        learned(failing())


@pytest.mark.parametrize(
    "told",
    [
        {"weight": torch.nan},
        {"weight": torch.inf},
        {"failure": ZeroDivisionError("division by zero")},
        {"failure": ValueError("array must not contain infs or NaNs")},
        {"failure": torch.linalg.LinAlgError("linalg.solve: A is singular. Try another.\nOr not.")},
    ],
)
def test_a_breakdown_in_a_hook_becomes_a_sentence(told):
    with pytest.raises(
        DivergenceError, match=r"^single diverged while learning task 0, as [^\n]*, and begin anew\.$"
    ) as met:
        learned(failing(**told))
    assert met.value.__cause__ is not None
    assert "Try another" not in str(met.value)


scores = st.floats(-(2.0**127), 2.0**127, width=32)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(scores, scores, scores), min_size=1, max_size=4))
def test_classes_that_may_not_be_answered_never_come_first(rows):
    allowed = torch.tensor([[True, True, False], [True, False, False]])
    answers = torch.tensor(rows).expand(2, -1, -1).masked_fill(~allowed.unsqueeze(1), MASKED)
    raised = _above_masked(answers, allowed)
    assert torch.equal(raised[0].argmax(dim=1), answers[0, :, :2].argmax(dim=1))
    assert (raised[1].argmax(dim=1) == 0).all()
    assert ((raised == MASKED) == ~allowed.unsqueeze(1)).all()
    usual = answers.masked_fill(~allowed.unsqueeze(1), 0).amin(dim=-1) >= LOWEST
    assert torch.equal(raised[usual], answers[usual])

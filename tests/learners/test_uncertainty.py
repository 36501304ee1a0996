"""Entropy taken apart: the parts add up, and mean what they say."""

import dataclasses
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.checks.clouds import STREAM, TASKS, examples, learned
from merlin_cl.errors import UsageError
from merlin_cl.learners.merlin.inference import DOUBT
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.learners.rivals.single_settings import SingleSettings
from merlin_cl.learners.uncertainty import Members, Uncertainty, entropy

SMALL = {"hidden_units": (8,), "exemplars": 12, "models": 4, "fine_tune_rate": 1e-2}
MERLIN = MerlinSettings(**SMALL, base_models=3, learning_rate=2e-2, updates_per_batch=5, replay=4, latent=80)


@settings(max_examples=50, deadline=None)
@given(members=st.integers(1, 5), classes=st.integers(1, 6), seed=st.integers(0, 999), sharp=st.floats(0, 50))
def test_the_parts_are_not_negative_and_add_up(members, classes, seed, sharp):
    draws = torch.Generator().manual_seed(seed)
    probabilities = (sharp * torch.randn(members, 7, classes, generator=draws)).softmax(dim=-1)
    weights = torch.rand(7, members, generator=draws).softmax(dim=1)
    parts = Uncertainty.of(Members(probabilities, weights))
    for part in parts:
        assert (part >= 0).all()
        assert (part <= math.log(classes) + 1e-5).all()
    assert torch.allclose(parts.total, parts.aleatoric + parts.epistemic)


def test_ensembles_of_several_tasks_are_weighed_and_members_disagree_within_theirs():
    """Two tasks with two models each and classes of their own; an input is of the first with 3/4, then surely of the second."""
    one_sided, even = [0.9, 0.1, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]
    sure, sure_of_the_other = [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]
    probabilities = torch.tensor([one_sided, even, sure, sure_of_the_other])[:, None].expand(4, 2, 4)
    of_tasks = torch.tensor([[0.75, 0.25], [0.0, 1.0]])  # the tasks' weights, [N, T]
    parts = Uncertainty.of(Members(probabilities, of_tasks.repeat_interleave(2, dim=1) / 2, sizes=(2, 2)))

    def nats(*values):
        return -sum(value * math.log(value) for value in values)

    total = 0.75 * nats(0.7, 0.3) + 0.25 * math.log(2)
    aleatoric = 0.75 * (nats(0.9, 0.1) + nats(0.5, 0.5)) / 2  # the second task's models are sure, each by itself
    assert parts.total.tolist() == pytest.approx([total, math.log(2)], abs=1e-6)
    assert parts.aleatoric.tolist() == pytest.approx([aleatoric, 0.0], abs=1e-6)
    assert parts.epistemic.tolist() == pytest.approx([total - aleatoric, math.log(2)], abs=1e-6)


@pytest.mark.parametrize("apart", [1e-3, 1e-4])
def test_members_that_hardly_differ_still_have_the_right_epistemic_part(apart):
    """Two members at 1/2 plus and minus d: to the second order the mutual information is 2 d^2, less than float32 can resolve
    of the entropies."""
    members = torch.tensor([[[0.5 + apart, 0.5 - apart]], [[0.5 - apart, 0.5 + apart]]])
    parts = Uncertainty.of(Members(members, torch.full((1, 2), 0.5)))
    assert parts.epistemic.item() == pytest.approx(2 * apart**2, rel=0.01)


def test_members_that_agree_leave_no_epistemic_part_and_sure_ones_no_aleatoric_part():
    even = torch.full((3, 2, 4), 0.25)
    sure = torch.eye(4)[:, None].expand(4, 2, 4)  # four members, each certain of another class
    agreeing = Uncertainty.of(Members(even, torch.full((2, 3), 1 / 3)))
    quarrelling = Uncertainty.of(Members(sure, torch.full((2, 4), 0.25)))
    assert torch.allclose(agreeing.aleatoric, torch.tensor(math.log(4)))
    assert agreeing.epistemic.abs().max() < 1e-6
    assert torch.allclose(quarrelling.epistemic, torch.tensor(math.log(4)))
    assert quarrelling.aleatoric.abs().max() < 1e-6


@pytest.mark.parametrize(
    "method",
    [GDumbEnsembleSettings(**SMALL), MERLIN, dataclasses.replace(MERLIN, replay=0)],
    ids=["gdumb", "merlin", "merlin no replay"],
)
def test_the_total_of_one_ensemble_is_the_entropy_of_its_answer(method):
    learner = learned(method.build(STREAM, seed=0))
    x, _ = examples(TASKS[1])
    for inference in set(learner.inferences) - {"marginal"}:
        task = 1 if inference == "aware" else None
        class_sets = [learner.seen if task is None else TASKS[1].classes]
        answer = learner.logits(x, task=task, inference=inference, class_sets=class_sets)[0].softmax(dim=1)
        parts = learner.uncertainty(x, task=task, inference=inference)
        assert torch.allclose(parts.total, entropy(answer), atol=1e-4)


def test_tasks_weigh_by_a_power_of_their_chance_and_are_asked_about_all_they_were_taught():
    learner = learned(MERLIN.build(STREAM, seed=0))
    x, _ = examples(TASKS[1])
    members = learner._members(x, None, "marginal")
    chances = learner.task_shares(x, inference="marginal") ** DOUBT
    weights = torch.stack([part.sum(dim=1) for part in members.weights.split(members.sizes, dim=1)], dim=1)
    assert torch.allclose(weights.double(), chances / chances.sum(dim=1, keepdim=True), atol=1e-5)
    for answer, taught in zip(members.probabilities.split(members.sizes), map(range, (2, 4, 6)), strict=True):
        assert answer[..., list(taught)].sum(dim=-1).allclose(torch.ones(()))
        assert (answer[..., list(taught)] > 0).any(dim=1).all()


def test_votes_that_are_counted_give_probabilities_in_every_mode():
    learner = learned(GDumbEnsembleSettings(**SMALL, vote="majority").build(STREAM, seed=0))
    for inference in learner.inferences:
        probabilities = learner.probabilities(
            examples(TASKS[1])[0], 1 if inference == "aware" else None, inference=inference
        )
        assert torch.allclose(probabilities.sum(dim=1), torch.ones(len(probabilities), dtype=torch.float64))
        assert (probabilities >= 0).all()


def test_a_single_network_says_that_it_cannot_tell():
    learner = learned(SingleSettings(hidden_units=(8,)).build(STREAM, seed=0))
    assert not learner.has_members
    with pytest.raises(UsageError, match="single answers with one network"):
        learner.uncertainty(examples(TASKS[0])[0])

"""CN-DPM: experts come when something new comes, and each learns its own."""

import pytest
import torch

from merlin_cl.learners.rivals.cn_dpm_settings import CNDPMSettings
from merlin_cl.protocol import StreamInfo, TaskInfo

SMALL = {"likelihood": "gaussian", "latent": 2, "generator_hidden": 16, "learning_rate": 1e-2, "generator_rate": 1e-2}
STREAM = StreamInfo("clouds", (4,), 2, 2, domain_incremental=True)


def cloud(centre, count, seed):
    """Two classes around a centre, the same in every domain."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 2, (count,), generator=generator)
    x = centre + 0.3 * torch.randn(count, 4, generator=generator)
    x[:, 0] += 2 * y
    return x, y


def learned(second_centre, **settings):
    """A learner after a domain around zero and one around another centre."""
    learner = CNDPMSettings(**{**SMALL, "exemplars": 50, "epochs": 60, **settings}).build(STREAM, seed=0)
    for task, centre in enumerate((0.0, second_centre)):
        learner.begin(TaskInfo(task, (0, 1)))
        x, y = cloud(centre, 200, seed=task)
        for start in range(0, 200, 10):
            learner.observe(x[start : start + 10], y[start : start + 10])
        learner.end()
    return learner


def test_a_new_domain_makes_a_new_expert_and_the_old_one_stays_as_it_was():
    learner = learned(second_centre=6.0, surprise=5.0)
    assert len(learner.experts) == 2
    assert sum(expert.count for expert in learner.experts) + len(learner.memory) == 400
    for number, centre in enumerate((0.0, 6.0)):
        x, y = cloud(centre, 100, seed=9)
        inputs = torch.stack([expert.log_input(x) for expert in learner.experts])
        assert (inputs.argmax(0) == number).float().mean() > 0.95
        assert (learner.logits(x).argmax(1) == y).float().mean() > 0.95


def test_the_same_domain_again_makes_none():
    assert len(learned(second_centre=0.0).experts) == 1


def test_there_are_no_more_experts_than_allowed():
    learner = learned(second_centre=6.0, experts=1)
    assert len(learner.experts) == 1
    assert len(learner.memory) == 0


def test_an_example_of_a_class_no_expert_has_learned_is_new(tiny):
    learner = CNDPMSettings(**SMALL, exemplars=10).build(tiny.stream, seed=0)
    tiny.learn(learner, 0)
    learner.begin(tiny.tasks[1])
    x, y = tiny.batch(1)
    assert (learner._chosen(x, y) == -1).all()


def test_an_answer_is_the_mixture_weighed_by_the_experts_counts_and_likelihoods():
    learner = learned(second_centre=2.0)
    x, _ = cloud(1.0, 7, seed=5)
    total = 0
    for expert in learner.experts:
        weight = expert.count * expert.inputs.log_likelihood(x).double().exp()
        total = total + weight[:, None] * expert.log_answers(x).double().exp()
    expected = (total / total.sum(1, keepdim=True)).float()
    torch.testing.assert_close(learner.logits(x).exp(), expected, rtol=1e-3, atol=1e-5)


def test_before_the_first_expert_every_class_is_as_good():
    learner = CNDPMSettings(**SMALL).build(STREAM, seed=0)
    learner.begin(TaskInfo(0, (0, 1)))
    x, y = cloud(0.0, 5, seed=0)
    learner.observe(x, y)
    assert (learner.logits(x) == 0).all()
    assert learner.stored_bytes()["exemplars"] == pytest.approx(5 * (16 + 2))

"""MERLIN on streams small enough for a test: what makes it MERLIN, and its control the control."""

import dataclasses
import math

import pytest
import torch

from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.learner import Asked
from merlin_cl.learners.merlin.inference import RESERVE
from merlin_cl.learners.merlin.learner import SHRUNK
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.networks.bank import Bank
from merlin_cl.protocol import TaskInfo

from .small import SMALL, STREAM, TASKS, everything, examples, learn, learned


def sampled_accuracy(learner):
    """Of models sampled for each task, on their own task."""
    return [learner.probe(task.index, *examples(task))["sampled_ensemble"] for task in TASKS]


def test_sampled_models_solve_every_task_after_the_last():
    assert min(sampled_accuracy(learned(SMALL.build(STREAM, seed=0)))) > 90


def test_replay_teaches_a_tasks_models_to_tell_it_from_earlier_ones():
    """Base models of the last task, asked to choose among all classes, know the earlier tasks only with replay."""
    x, y = examples(TASKS[0])
    for replay, knows in ((0, False), (8, True)):
        learner = learned(dataclasses.replace(SMALL, replay=replay).build(STREAM, seed=0))
        psi = learner._base.psi
        choices = learner.network.apply(psi, x.expand(len(psi), *x.shape))[:, :, learner.seen].argmax(dim=-1)
        assert bool((choices == y).float().mean() > 0.8) is knows


def test_transfer_starts_a_task_from_the_means_of_the_one_before_and_loses_none():
    learner = dataclasses.replace(SMALL, start="consolidated", replay=8).build(STREAM, seed=0)
    learn(learner, TASKS[0])
    before = learner.distribution.mean(0)
    learner.begin(TASKS[1])
    assert torch.equal(learner.current_models, before)
    for x, y in zip(*(part.split(10) for part in examples(TASKS[1])), strict=True):
        learner.observe(x, y)
    learner.end()
    learn(learner, TASKS[2])
    assert min(sampled_accuracy(learner)) > 90


def test_a_shrunk_start_lies_on_the_way_from_psi_0_to_the_means_of_the_task_before():
    learner = dataclasses.replace(SMALL, start="shrunk").build(STREAM, seed=0)
    learn(learner, TASKS[0])
    means = learner.distribution.mean(0)
    starts = learner.distribution.decoder.starts[: len(means)]
    learner.begin(TASKS[1])
    torch.testing.assert_close(learner.current_models, starts + SHRUNK * (means - starts))
    assert 0 < SHRUNK < 1


def test_odds_are_corrected_for_the_mixture_that_models_learned_from():
    """Models that give their own task the share it had in their lessons know nothing; asked, they must say one in j + 1."""
    learner = learned(SMALL.build(STREAM, seed=0))
    for j in (1, 2):
        share = learner.old_share(j)
        assert share == pytest.approx(4 / (4 + 10), abs=0.05)  # replay 4, batches of ten
        own, earlier = (sum(len(task.classes) for task in tasks) for tasks in (TASKS[j : j + 1], TASKS[:j]))
        logits = torch.full((5, 1, STREAM.classes), 0.0)
        logits[..., list(TASKS[j].classes)] = torch.tensor((1 - share) / own).log()
        for task in TASKS[:j]:
            logits[..., list(task.classes)] = torch.tensor(share / earlier).log()
        odds = learner._inference.odds(logits, j).item()
        assert odds / (1 + odds) == pytest.approx(1 / (j + 1), abs=1e-5)


def test_models_of_domains_are_believed_by_their_mean_log_odds_with_reserve():
    learner = SMALL.build(dataclasses.replace(STREAM, classes=2, domain_incremental=True), seed=0)
    for index in range(3):
        x, y = examples(TASKS[index])
        learner.begin(TaskInfo(index, (0, 1)))
        learner.observe(x, y % 2)
        learner.end()
    share = learner.old_share(2)
    logits = torch.full((2, 1, 3), -1e3)
    logits[0, 0], logits[1, 0] = torch.tensor([3.0, -20.0, 0.0]), torch.tensor([-20.0, 1.0, 0.0])  # odds e^3 and e to 1
    expected = math.exp(RESERVE * (2.0 + math.log(share / ((1 - share) * 2))))
    assert learner._inference.odds(logits, 2).item() == pytest.approx(expected, rel=1e-4)


def test_rehearsal_is_of_the_own_task_and_counts_as_such():
    shares = []
    for rehearse in (0, 13):
        learner = learned(dataclasses.replace(SMALL, rehearse=rehearse).build(STREAM, seed=0))
        shares.append(learner.old_share(2))
        assert min(sampled_accuracy(learner)) > 90
    assert shares[1] == pytest.approx(4 / (4 + 10 + 13), abs=0.05)
    assert shares[1] < shares[0]


def test_the_control_holds_the_same_exemplars():
    merlin = learned(SMALL.build(STREAM, seed=5))
    control = learned(GDumbEnsembleSettings(hidden_units=(16,), exemplars=12).build(STREAM, seed=5))
    assert torch.equal(merlin.memory.x, control.memory.x)
    assert torch.equal(merlin.memory.y, control.memory.y)


def test_no_old_model_is_kept_between_tasks():
    """The state after a task has no room for B base models."""
    learner = SMALL.build(STREAM, seed=0)
    learn(learner, TASKS[0])
    assert learner.state()["method"]["base"] == {}


def test_the_number_of_models_is_free_at_inference():
    learner = learned(SMALL.build(STREAM, seed=0))
    x, _ = everything()
    few = learner.logits(x)
    learner.prepare(models=9)
    more = learner.logits(x)
    learner.prepare()
    assert not torch.equal(few, more)
    assert torch.equal(few, learner.logits(x))
    with pytest.raises(UsageError, match="at least 1"):
        learner.prepare(models=0)


def test_answers_within_a_task_cost_no_fine_tuning():
    learner = learned(SMALL.build(STREAM, seed=0))
    learner.logits(everything()[0], inference="marginal")
    assert "infer" not in learner.phases.cpu_seconds
    learner.logits(everything()[0], inference="aggregate")
    assert "infer" in learner.phases.cpu_seconds


@pytest.mark.parametrize("domain_incremental", [False, True])
def test_questions_asked_together_are_answered_as_one_by_one_and_share_work(domain_incremental, monkeypatch):
    stream = dataclasses.replace(STREAM, classes=2, domain_incremental=True) if domain_incremental else STREAM
    learner = dataclasses.replace(SMALL, replay=8).build(stream, seed=0)
    for index, task in enumerate(TASKS):
        learner.begin(TaskInfo(index, (0, 1) if domain_incremental else task.classes))
        x, y = examples(task)
        learner.observe(x + 3 * index, y % 2 if domain_incremental else y)
        learner.end()
    x = everything()[0]
    questions = [Asked(None, "marginal", [learner.seen, [0, 1]]), Asked(1, "aware", [[0, 1]]), Asked(None, None, [[0]])]
    alone = [learner.logits(x, one.task, inference=one.inference, class_sets=one.class_sets) for one in questions]
    asked = []
    logits = Bank.logits
    monkeypatch.setattr(Bank, "logits", lambda bank, x: (asked.append(bank.members * len(x)), logits(bank, x))[1])
    for one, together in zip(alone, learner.answers(x, questions), strict=True):
        torch.testing.assert_close(one, together)
    shared = sum(asked)
    asked.clear()
    for one in questions:
        learner.logits(x, one.task, inference=one.inference, class_sets=one.class_sets)
    assert shared < sum(asked)


def test_aware_inference_asks_for_the_task():
    learner = learned(SMALL.build(STREAM, seed=0))
    with pytest.raises(UsageError, match="needs to be told the task"):
        learner.logits(everything()[0], inference="aware")


@pytest.mark.parametrize("start", ["psi_0", "consolidated", "shrunk"])
def test_marginal_probabilities_sum_to_one(start):
    learner = learned(dataclasses.replace(SMALL, start=start).build(STREAM, seed=0))
    probability = learner.logits(everything()[0], inference="marginal").exp().sum(dim=1)
    torch.testing.assert_close(probability, torch.ones_like(probability), atol=5e-3, rtol=0)


def test_epistemic_uncertainty_is_greater_far_from_all_that_was_learned():
    learner = learned(dataclasses.replace(SMALL, base_models=6, models=12).build(STREAM, seed=0))
    x, _ = everything()
    far = 6 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    near, away = (learner.uncertainty(inputs).epistemic.mean() for inputs in (x, far))
    assert away > 3 * near


def test_descriptors_of_one_width_are_asked_for():
    learner = SMALL.build(STREAM, seed=0)
    described = [dataclasses.replace(task, descriptor=(0.1, 0.2, task.index, 1.0)) for task in TASKS]
    learner.begin(described[0])
    learner.observe(*examples(TASKS[0]))
    learner.end()
    with pytest.raises(InputError, match="descriptor of task 1"):
        learner.begin(TaskInfo(1, (2, 3), descriptor=(1.0,)))
    learner.begin(described[1])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"exemplars": 0}, "exemplars is 0; it must be at least 1"),
        ({"models": -1}, "models is -1"),
        ({"base_models": 0}, "base_models is 0"),
        ({"memory": -1}, "memory is -1"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"words": "glove.txt"}, "use descriptor words"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        dataclasses.replace(SMALL, **wrong)


def test_there_are_at_most_twenty_settings():
    assert len(dataclasses.fields(SMALL)) <= 20


def test_domains_are_told_apart_without_task_labels():
    """Three rotations of the same clouds, one label space: `marginal` finds the domain that `aware` is told."""
    stream = dataclasses.replace(STREAM, classes=2, domain_incremental=True)
    x, y = examples(TASKS[0])
    domains = [x, x.flip(-1) - 3, x.flip(1) + 3]
    learner = dataclasses.replace(SMALL, replay=8, exemplars=24, updates_per_batch=20).build(stream, seed=0)
    for index, domain in enumerate(domains):
        learner.begin(TaskInfo(index, (0, 1)))
        for start in range(0, len(y), 8):
            learner.observe(domain[start : start + 8], y[start : start + 8])
        learner.end()
    assert learner.network.classes == 3  # one more, for strangers
    for index, domain in enumerate(domains):
        told = learner.logits(domain, task=index, inference="aware").argmax(dim=1)
        answers = learner.logits(domain, inference="marginal").argmax(dim=1)
        assert answers.max() < 2
        assert (told == y).float().mean() > 0.9
        assert (answers == told).float().mean() > 0.9
        assert learner.probe(index, domain, y)["sampled_ensemble"] > 90


@pytest.mark.parametrize("domain_incremental", [False, True])
def test_growth_changes_no_answer(domain_incremental):
    stream = dataclasses.replace(
        STREAM, classes=6 if not domain_incremental else 2, domain_incremental=domain_incremental
    )
    learner = SMALL.build(stream, seed=0)
    for index in range(2):
        learner.begin(TaskInfo(index, (0, 1) if domain_incremental else TASKS[index].classes))
        x, y = examples(TASKS[index])
        learner.observe(x, y % 2 if domain_incremental else y)
        learner.end()
    x, _ = everything()
    wider = learner.grown(stream.classes + 5, stream.tasks + 2)
    before, after = (one.logits(x)[:, : stream.classes] for one in (learner, wider))
    torch.testing.assert_close(before, after)
    assert wider.distribution.bytes - learner.distribution.bytes <= 2 * 2  # a bit for every new part


def test_growth_in_the_middle_of_a_task_goes_on_learning_the_same():
    """With noise, which has more numbers to vary, others are drawn."""
    learners = [dataclasses.replace(SMALL, noise=0.0).build(STREAM, seed=0) for _ in range(2)]
    x, y = examples(TASKS[0])
    for learner in learners:
        learner.begin(TASKS[0])
        learner.observe(x[:10], y[:10])
    plain, wider = learners[0], learners[1].grown(STREAM.classes + 3, STREAM.tasks)
    for learner in (plain, wider):
        learner.observe(x[10:20], y[10:20])
        learner.end()
    torch.testing.assert_close(plain.logits(x), wider.logits(x)[:, : STREAM.classes])


@pytest.fixture
def little_room(monkeypatch):
    """Settings whose third task comes when there is no room for a long z any more."""
    monkeypatch.setattr("merlin_cl.networks.sketch.SHORTEST", 50)
    return dataclasses.replace(SMALL, base_models=5, memory=1)


def test_z_is_long_while_there_is_room_and_short_afterwards(little_room):
    learner = learned(little_room.build(STREAM, seed=0))
    distribution = learner.distribution
    assert [prior.short for prior in distribution.priors] == [False, False, True]
    assert distribution.bytes <= distribution.memory == 1000
    sketch = distribution.sketch
    z = distribution.prior(2).mean(sketch).z
    assert torch.equal(sketch.lengthened(sketch.shortened(z)), z)
    assert min(learner.probe(task.index, *examples(task))["sampled_ensemble"] for task in TASKS) > 90


def test_a_task_with_a_short_z_resumes_as_if_never_interrupted(little_room):
    plain, resumed = (little_room.build(STREAM, seed=0) for _ in range(2))
    x, y = examples(TASKS[2])
    for task in TASKS[:2]:
        learn(plain, task)
    plain.begin(TASKS[2])
    plain.observe(x[:10], y[:10])
    resumed.restore(plain.state())
    for learner in (plain, resumed):
        learner.observe(x[10:20], y[10:20])
        learner.end()
    assert torch.equal(plain.logits(x), resumed.logits(x))


def test_growth_in_the_middle_of_a_task_with_a_short_z_goes_on_learning_the_same(little_room):
    learners = [dataclasses.replace(little_room, noise=0.0).build(STREAM, seed=0) for _ in range(2)]
    x, y = examples(TASKS[2])
    for learner in learners:
        for task in TASKS[:2]:
            learn(learner, task)
        learner.begin(TASKS[2])
        learner.observe(x[:10], y[:10])
    plain, wider = learners[0], learners[1].grown(STREAM.classes + 3, STREAM.tasks)
    for learner in (plain, wider):
        learner.observe(x[10:20], y[10:20])
    torch.testing.assert_close(plain.logits(x), wider.logits(x)[:, : STREAM.classes])
    for learner in (plain, wider):
        learner.end()
    torch.testing.assert_close(plain.ensemble(1).logits(x), wider.ensemble(1).logits(x)[..., : STREAM.classes])

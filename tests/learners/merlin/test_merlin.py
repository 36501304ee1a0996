"""MERLIN on streams small enough for a test: what makes it MERLIN, and its control the control."""

import dataclasses
import math

import pytest
import torch

from merlin_cl.battery import STREAM, TASKS, _everything, _examples, _learn, _learned
from merlin_cl.errors import InputError, UsageError
from merlin_cl.learners.control_settings import GDumbEnsembleSettings
from merlin_cl.learners.merlin.base_models import BaseModels
from merlin_cl.learners.merlin.decoders import Form
from merlin_cl.learners.merlin.distribution import WeightDistribution
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.networks.mlp import MLP
from merlin_cl.protocol import TaskInfo

SMALL = MerlinSettings(
    hidden_units=(16,), exemplars=12, models=5, base_models=4, learning_rate=2e-2, updates_per_batch=5,
    averaging=0.5, replay=4, rehearse=0, chunk=20, rank=2, hidden=8,
)  # fmt: skip
CHUNKS = dataclasses.replace(
    SMALL, decoder="chunks", precision="float32", latent=4, hidden=24, embedding=8, vae_steps=200, vae_rate=1e-2
)


def sampled_accuracy(learner):
    """Of models sampled for each task and not fine-tuned, on their own task."""
    return [learner.probe(task.index, *_examples(task))["sampled_ensemble"] for task in TASKS]


@pytest.mark.parametrize("settings", [SMALL, CHUNKS], ids=["factors", "chunks"])
def test_sampled_models_solve_every_task_after_the_last(settings):
    assert min(sampled_accuracy(_learned(settings.build(STREAM, seed=0)))) > 90


def test_tasks_can_share_bases():
    """Three tasks in two bases: consolidation fits the third into what the others leave."""
    shared = dataclasses.replace(SMALL, latent=2, rank=4, vae_steps=200, vae_rate=1e-2)
    assert min(sampled_accuracy(_learned(shared.build(STREAM, seed=0)))) > 90


def test_without_consolidation_old_tasks_are_forgotten():
    alone = dataclasses.replace(CHUNKS, replay=0, base_classes="task")  # models of a task that know nothing of others
    assert min(sampled_accuracy(_learned(alone.build(STREAM, seed=0)))) > 90
    learner = _learned(dataclasses.replace(alone, consolidation="off").build(STREAM, seed=0))
    accuracy = sampled_accuracy(learner)
    assert accuracy[-1] > 90
    assert min(accuracy[:-1]) < 75


def test_replay_teaches_a_tasks_models_to_tell_it_from_earlier_ones():
    """Base models of the last task, asked to choose among all classes, know the earlier tasks only with replay."""
    x, y = _examples(TASKS[0])
    for replay, knows in ((0, False), (8, True)):
        learner = _learned(dataclasses.replace(SMALL, replay=replay).build(STREAM, seed=0))
        choices = learner._base.bank.logits(x)[:, :, learner.seen].argmax(dim=-1)
        assert bool((choices == y).float().mean() > 0.8) is knows


def test_transfer_starts_a_task_from_models_of_the_one_before_and_loses_none():
    learner = dataclasses.replace(SMALL, start="consolidated", replay=8).build(STREAM, seed=0)
    _learn(learner, TASKS[0])
    before = learner.sample_task(0, purpose="test").weights.mean(dim=0)
    learner.begin(TASKS[1])
    start = learner._base.bank.weights.mean(dim=0)
    origin = learner._origin()
    assert (start - before).norm() < 0.1 * (start - origin).norm()
    for x, y in zip(*(part.split(10) for part in _examples(TASKS[1])), strict=True):
        learner.observe(x, y)
    learner.end()
    _learn(learner, TASKS[2])
    assert min(sampled_accuracy(learner)) > 90


def test_odds_are_corrected_for_the_mixture_that_models_learned_from():
    """Models that give their own task the share it had in their lessons know nothing; asked, they must say one in j + 1."""
    learner = _learned(SMALL.build(STREAM, seed=0))
    for j in (1, 2):
        share = learner._old_share(j)
        assert share == pytest.approx(4 / (4 + 0.9 * 10), abs=0.05)  # replay 4, batches of ten at a rate of 0.9
        own, earlier = (sum(len(task.classes) for task in tasks) for tasks in (TASKS[j : j + 1], TASKS[:j]))
        logits = torch.full((5, 1, STREAM.classes), 0.0)
        logits[..., list(TASKS[j].classes)] = torch.tensor((1 - share) / own).log()
        for task in TASKS[:j]:
            logits[..., list(task.classes)] = torch.tensor(share / earlier).log()
        odds = learner._odds(logits, j).item()
        assert odds / (1 + odds) == pytest.approx(1 / (j + 1), abs=1e-5)


def test_rehearsal_is_of_the_own_task_and_counts_as_such():
    shares = []
    for rehearse in (0, 13):
        learner = _learned(dataclasses.replace(SMALL, rehearse=rehearse).build(STREAM, seed=0))
        shares.append(learner._old_share(2))
        assert min(sampled_accuracy(learner)) > 90
    assert shares[1] == pytest.approx(4 / (4 + 9 + 13), abs=0.05)
    assert shares[1] < shares[0]


def test_the_stored_priors_stay_fixed():
    learner = SMALL.build(STREAM, seed=0)
    _learn(learner, TASKS[0])
    before = learner.distribution.priors[0].detached()
    _learn(learner, TASKS[1])
    _learn(learner, TASKS[2])
    assert all(torch.equal(a, b) for a, b in zip(before, learner.distribution.priors[0], strict=True))


def test_only_learned_priors_tell_the_tasks_apart():
    for prior, differ in (("learned", True), ("standard-normal", False)):
        distribution = _learned(dataclasses.replace(CHUNKS, prior=prior).build(STREAM, seed=0)).distribution
        first, last = (
            distribution.sample(distribution.priors[at], 3, torch.Generator().manual_seed(0)) for at in (0, -1)
        )
        assert torch.equal(first, last) != differ


def test_a_prior_that_is_not_learned_is_refused_where_it_would_leave_nothing_to_learn():
    with pytest.raises(UsageError, match=r"^prior standard-normal needs decoder chunks: .*\.$"):
        dataclasses.replace(SMALL, prior="standard-normal")


def test_a_prior_that_is_not_learned_has_a_gradient_everywhere():
    """Every part of the VAE but the prior's own moves away from where it was drawn."""
    settings = dataclasses.replace(CHUNKS, prior="standard-normal", vae_steps=2)
    fresh, learner = (settings.build(STREAM, seed=0) for _ in range(2))
    _learn(learner, TASKS[0])
    before, after = (one.distribution.vae.state_dict() for one in (fresh, learner))
    still = {name for name, value in after.items() if torch.equal(value, before[name])}
    assert still == {f"prior_{part}.{kind}" for part in ("mean", "log_variance") for kind in ("weight", "bias")}


@pytest.mark.parametrize("settings", [SMALL, CHUNKS], ids=["factors", "chunks"])
def test_what_has_not_moved_keeps_a_scale_that_is_not_zero(settings):
    """All offsets are zero after a task with one class; in 16 bits a scale that is too small would be zero."""
    settings = dataclasses.replace(settings, precision="float16", vae_steps=2)
    learner = settings.build(STREAM, seed=0)
    learner.begin(TaskInfo(0, (0,)))
    learner.observe(
        torch.randn(8, *STREAM.input_shape, generator=torch.Generator().manual_seed(0)), torch.zeros(8).long()
    )
    learner.end()
    assert (learner.distribution.vae.decoder.scale > 0).all()
    figures = learner.probe(0, torch.zeros(2, *STREAM.input_shape), torch.zeros(2).long())
    assert all(map(math.isfinite, figures.values()))


@pytest.mark.parametrize("settings", [SMALL, CHUNKS], ids=["factors", "chunks"])
def test_the_auxiliary_loss_reaches_the_decoder(settings):
    plain, helped = (
        dataclasses.replace(settings, vae_steps=3, classification_loss=weight).build(STREAM, seed=0)
        for weight in (0.0, 1.0)
    )
    for learner in (plain, helped):
        _learn(learner, TASKS[0])
    pairs = zip(*(learner.distribution.vae.decoder.parameters() for learner in (plain, helped)), strict=True)
    assert any(not torch.equal(one, other) for one, other in pairs)


def test_the_control_holds_the_same_exemplars():
    merlin = _learned(SMALL.build(STREAM, seed=5))
    control = _learned(GDumbEnsembleSettings(hidden_units=(16,), exemplars=12).build(STREAM, seed=5))
    assert torch.equal(merlin.memory.x, control.memory.x)
    assert torch.equal(merlin.memory.y, control.memory.y)


def test_no_old_model_is_kept_between_tasks():
    """The state after a task has no room for B base models."""
    learner = SMALL.build(STREAM, seed=0)
    _learn(learner, TASKS[0])
    assert learner.state()["method"]["base"] == {}


def test_the_number_of_models_is_free_at_inference():
    learner = _learned(SMALL.build(STREAM, seed=0))
    x, _ = _everything()
    five = learner.logits(x)
    learner.prepare(models=9)
    nine = learner.logits(x)
    learner.prepare()
    assert not torch.equal(five, nine)
    assert torch.equal(five, learner.logits(x))
    with pytest.raises(UsageError, match="at least 1"):
        learner.prepare(models=0)


def test_aware_inference_asks_for_the_task():
    learner = _learned(SMALL.build(STREAM, seed=0))
    with pytest.raises(UsageError, match="needs to be told the task"):
        learner.logits(_everything()[0], inference="aware")


def test_marginal_probabilities_sum_to_one():
    learner = _learned(SMALL.build(STREAM, seed=0))
    probability = learner.logits(_everything()[0], inference="marginal").exp().sum(dim=1)
    torch.testing.assert_close(probability, torch.ones_like(probability), atol=1e-4, rtol=0)


def test_descriptors_take_the_place_of_one_hot_vectors():
    learner = SMALL.build(STREAM, seed=0)
    described = [dataclasses.replace(task, descriptor=(0.1, 0.2, task.index, 1.0)) for task in TASKS]
    learner.begin(described[0])
    learner.observe(*_examples(TASKS[0]))
    learner.end()
    assert learner.distribution.vae.prior_mean.in_features == 4
    with pytest.raises(InputError, match="descriptor of task 1"):
        learner.begin(TaskInfo(1, (2, 3), descriptor=(1.0,)))


@pytest.mark.parametrize(("sampling", "rate"), [("bernoulli", 0.7), ("poisson", 1.0)])
def test_base_models_take_examples_at_the_rate_asked_for(sampling, rate):
    network = MLP((3,), 2, ())
    settings = dataclasses.replace(SMALL, sampling=sampling, sampling_rate=rate)
    models = BaseModels(
        network, torch.zeros(50, network.size), torch.ones(2, dtype=torch.bool), settings, torch.Generator()
    )
    shares = models._shares(400)
    assert abs(float(shares.mean()) - rate) < 0.03
    assert shares.max() > 1 if sampling == "poisson" else shares.max() == 1
    assert not torch.equal(shares[0], shares[1])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"exemplars": 0}, "exemplars is 0; it must be at least 1"),
        ({"models": -1}, "models is -1"),
        ({"base_models": 0}, "base_models is 0"),
        ({"sampling_rate": 1.5}, "sampling_rate is 1.5"),
        ({"vae_optimiser": "adagrad"}, "adagrad needs latent_per chunk"),
        ({"latent_per": "chunk"}, "factors needs latent_per model"),
        ({"averaging": 1.0}, "averaging is 1.0"),
        ({"kl_weight": float("nan")}, "kl_weight is nan"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        dataclasses.replace(SMALL, **wrong)


def test_domains_are_told_apart_without_task_labels():
    """Three rotations of the same clouds, one label space: `marginal` finds the domain that `aware` is told."""
    stream = dataclasses.replace(STREAM, classes=2, domain_incremental=True)
    x, y = _examples(TASKS[0])
    domains = [x, x.flip(-1) - 3, x.flip(1) + 3]
    settings = dataclasses.replace(SMALL, replay=8, exemplars=24, updates_per_batch=20, rank=4)
    learner = settings.build(stream, seed=0)
    for index, domain in enumerate(domains):
        learner.begin(TaskInfo(index, (0, 1)))
        for start in range(0, len(y), 8):
            learner.observe(domain[start : start + 8], y[start : start + 8])
        learner.end()
    assert learner.network.classes == 3  # one more, for strangers
    for index, domain in enumerate(domains):
        told = learner.logits(domain, task=index, inference="aware").argmax(dim=1)
        found = learner.logits(domain, inference="marginal").argmax(dim=1)
        assert found.max() < 2
        assert (told == y).float().mean() > 0.9
        assert (found == told).float().mean() > 0.9
        assert learner.probe(index, domain, y)["sampled_ensemble"] > 90


@pytest.mark.parametrize("form", ["thin matrices", "entries"])
def test_a_state_keeps_its_form_whatever_would_be_chosen_now(monkeypatch, form):
    """Learners that were saved before a better form was found go on with theirs."""
    saved, loaded = (SMALL.build(STREAM, seed=0) for _ in range(2))
    then = Form.of_rank(saved.network, 2) if form == "thin matrices" else list(Form.of_entries(saved.network))[-1]
    monkeypatch.setattr(WeightDistribution, "_forms", lambda *_: iter([then]))
    _learned(saved)
    monkeypatch.setattr(WeightDistribution, "_forms", lambda *_: iter([Form.of_rank(saved.network, 3)]))
    loaded.restore(saved.state())
    assert torch.equal(loaded.sample_task(0, purpose="test").weights, saved.sample_task(0, purpose="test").weights)
    assert loaded.stored_bytes() == saved.stored_bytes()

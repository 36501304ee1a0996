"""The recipe does what the paper says: its ablations change what they are said to change, and nothing of the stream is kept."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import merlin_cl.learners.merlin_paper as package
from merlin_cl.errors import UsageError
from merlin_cl.estimator import MerlinClassifier
from merlin_cl.learners.learner import Learner
from merlin_cl.learners.merlin_paper.base_models import BaseModels
from merlin_cl.learners.merlin_paper.learner import MerlinPaper
from merlin_cl.learners.merlin_paper.recipes import RECIPES
from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.registry import preset_kind
from merlin_cl.learners.voting import vote
from merlin_cl.networks.bank import Bank
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet
from merlin_cl.protocol import StreamInfo, TaskInfo

SMALL = MerlinPaperSettings(
    hidden_units=(6,), base_models=2, models=3, exemplars=10, chunk=10, hidden=8, vae_epochs=3, fine_tune_epochs=2
)


def learned(tiny, **changes):
    settings = replace(SMALL, **changes)
    return tiny.learn(settings.build(tiny.stream, seed=0))


def sampled(learner, task=0):
    return learner.distribution.sample(learner.distribution.priors[task], 4, torch.Generator().manual_seed(1))


@pytest.fixture
def fresh(tiny):
    """A stream that starts again for every learner."""
    return lambda **changes: learned(type(tiny)(), **changes)


def test_an_untrained_vae_is_as_it_was_drawn_whatever_the_stream_brings(fresh):
    untrained, trained = fresh(vae="untrained"), fresh()
    drawn = replace(SMALL).build(untrained.stream, seed=0).distribution.vae.weights
    assert torch.equal(untrained.distribution.vae.weights, drawn)
    assert torch.equal(sampled(untrained), sampled(fresh(vae="untrained", base_models=1)))
    assert not torch.equal(trained.distribution.vae.weights, drawn)
    with pytest.raises(UsageError, match="classification_loss trains the VAE"):
        replace(SMALL, vae="untrained", classification_loss=True)


@pytest.mark.parametrize("reading", ["text", "code"])
def test_with_a_standard_normal_prior_the_vae_learns_and_the_prior_stays(fresh, reading):
    learner = fresh(prior="standard-normal", vae_epochs=40, reading=reading)
    for prior in learner.distribution.priors:
        assert not prior.mean.any()
        assert not prior.log_variance.any()
    losses = learner.phases.losses["negative_elbo"]
    assert len(losses) == 2 * 40
    assert losses[39] < losses[0]
    before, after = (
        vae.views(vae.weights) for vae in (SMALL.build(learner.stream, 0).distribution.vae, learner.distribution.vae)
    )
    for name in before:
        moved = not torch.equal(before[name], after[name])
        assert moved or name.startswith("prior_"), name


def test_a_learned_prior_is_stored_when_its_task_ends_and_stays(tiny):
    learner = SMALL.build(tiny.stream, seed=0)
    tiny.learn(learner, 0)
    (first,) = learner.distribution.priors
    kept = [part.clone() for part in first]
    tiny.learn(learner, 1)
    assert len(learner.distribution.priors) == 2
    assert all(map(torch.equal, learner.distribution.priors[0], kept))


def test_the_auxiliary_loss_is_met_with_every_batch_as_it_arrives(fresh):
    with_loss, without = fresh(classification_loss=True), fresh()
    assert len(with_loss.phases.losses["classification"]) == 2 * 6
    assert "classification" not in without.phases.losses
    assert not torch.equal(with_loss.distribution.vae.weights, without.distribution.vae.weights)


def test_consolidation_moves_encoder_and_decoder_and_leaves_the_prior(tiny, monkeypatch):
    import merlin_cl.learners.merlin_paper.learner as module

    moved = {}

    def recorded(fitting, *rest):
        moved["before"] = {name: view.clone() for name, view in fitting.vae.views(fitting.vae.weights).items()}
        consolidate(fitting, *rest)
        moved["after"] = fitting.vae.views(fitting.vae.weights)

    consolidate = module.consolidate
    monkeypatch.setattr(module, "consolidate", recorded)
    tiny.learn(SMALL.build(tiny.stream, seed=0), 0)
    for name, before in moved["before"].items():
        assert torch.equal(before, moved["after"][name]) == name.startswith("prior_"), name


def test_in_the_code_s_reading_every_task_has_a_vae_of_its_own(tiny):
    learner = replace(SMALL, reading="code").build(tiny.stream, seed=0)
    tiny.learn(learner, 0)
    old = learner.distribution.vae
    learner.begin(tiny.tasks[1])
    started = learner._fitting.vae.weights.clone()
    assert not torch.equal(started, old.weights)
    assert learner.distribution.vae is old  # which answers until the task ends
    text = SMALL.build(tiny.stream, seed=0)
    tiny.learn(text, 0)
    text.begin(tiny.tasks[1])
    assert torch.equal(text._fitting.vae.weights, text.distribution.vae.weights)


@pytest.mark.parametrize("network", [MLP((3,), 4, (6,)), ResNet((3, 8, 8), 2)], ids=["mlp", "resnet"])
def test_base_models_start_apart_in_the_text_and_together_in_the_code(network):
    for reading in RECIPES:
        settings = replace(SMALL, reading=reading)
        psi = BaseModels(network, settings, torch.Generator().manual_seed(0), torch.device("cpu")).psi
        assert torch.equal(psi[0], psi[1]) == (reading == "code")
        if reading == "code" and isinstance(network, MLP):
            views = network.views(psi[:1])
            assert not views["0.bias"].any()
            assert 0.5 < views["0.weight"].abs().max() / (6 / (3 + 6)) ** 0.5 <= 1


def test_any_number_of_models_answers_and_each_is_another(fresh):
    for models in (1, 7):
        learner = fresh(models=models)
        assert learner.ensemble().members == models
        assert len(learner.ensemble(task=1).weights.unique(dim=0)) == models
    assert learner.ensemble(models=20).members == 20
    assert torch.equal(learner.ensemble(models=2).weights, learner.ensemble().weights[:2])


def test_sampled_models_are_fine_tuned_on_exemplars_as_any_other_models_are(fresh):
    learner = fresh()
    generator = learner._drawing(None)
    prior = learner.distribution.aggregate_prior()
    psi = Bank(learner.network, learner.distribution.sample(prior, 3, generator))
    assert torch.equal(learner.fine_tuned(psi, generator=generator).weights, learner.ensemble().weights)


def test_other_chunks_give_other_models(fresh):
    samples = [sampled(fresh(chunk=chunk)) for chunk in (5, 10, 30)]
    assert len({tuple(models[0].tolist()) for models in samples}) == 3


def test_exemplars_are_a_reservoir_and_no_picture_is_changed_on_its_way():
    """As the text has it: chosen at random, and not a word of augmentation, whatever the pictures are."""
    stream = StreamInfo("photographs", (3, 32, 32), 2, 1, mirrored=True)
    settings = MerlinPaperSettings.preset("default", stream)
    assert not [name for name in settings.record() if "augment" in name or "choice" in name]
    learner = replace(settings, base_models=1, exemplars=4).build(stream, seed=0)
    assert learner.memory.choice == "random"
    learner.begin(TaskInfo(0, (0, 1)))
    x = torch.randint(0, 256, (8, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    met = []
    learner._base.learn = lambda given, y, allowed: met.append(given)
    learner.observe(x, torch.arange(8) % 2)
    assert torch.equal(met[0], x)
    assert all((x == kept).flatten(1).all(dim=1).any() for kept in learner.memory.x)


def test_votes_are_counted_in_the_text_and_logits_summed_in_the_code(fresh):
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    text, code = fresh(), fresh(reading="code")
    allowed = torch.ones(1, 4, dtype=torch.bool)
    for learner, how in ((text, "majority"), (code, "sum-logits")):
        assert torch.equal(learner.logits(x), vote(learner.ensemble().logits(x), allowed, how)[0])


def test_awareness_needs_a_task_and_answers_need_a_beginning(fresh, tiny):
    learner, x = fresh(), torch.zeros(1, 3)
    with pytest.raises(UsageError, match="needs to be told the task"):
        learner.logits(x, inference="aware")
    with pytest.raises(UsageError, match="No task has been learned yet"):
        SMALL.build(tiny.stream, seed=0).logits(x)
    assert learner.uncertainty(x, task=1, inference="aware").total.shape == (1,)


def test_it_does_not_grow_as_its_chunks_would_shift(fresh):
    learner = fresh()
    with pytest.raises(UsageError, match="merlin-paper cannot take more classes or tasks"):
        learner.grown(5, 2)


def test_pictures_are_learned_statistics_and_all():
    stream = StreamInfo("pictures", (3, 8, 8), 2, 1)
    learner = replace(SMALL, network="resnet", classification_loss=True, vae_epochs=1).build(stream, seed=0)
    learner.begin(TaskInfo(0, (0, 1)))
    x = torch.randint(0, 256, (30, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    learner.observe(x, torch.arange(30) % 2)
    learner.end()
    assert torch.isfinite(learner.logits(x)).all()
    assert torch.isfinite(learner.ensemble().weights).all()


def test_the_preset_paper_of_merlin_is_this_method():
    assert preset_kind("merlin", "paper") == (MerlinPaperSettings, "default")
    estimator = MerlinClassifier(preset="paper", models=2, base_models=1, settings={"vae_epochs": 1}, expected_tasks=1)
    x, y = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)).numpy(), [0, 1] * 20
    estimator.partial_fit(x, y, task="only").end_task()
    assert isinstance(estimator.learner_, MerlinPaper)
    assert estimator.learner_.settings.models == 2
    assert estimator.predict(x).shape == (40,)
    with pytest.raises(UsageError, match="setting of merlin-paper 'updates_per_batch'"):
        MerlinClassifier(preset="paper", updates_per_batch=3).partial_fit(x, y)


def test_it_stands_on_its_own():
    """Nothing comes from our own MERLIN, and one link leads to `Learner`."""
    assert MerlinPaper.__mro__[1] is Learner
    for file in Path(package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert not f"{node.module}.".startswith("merlin_cl.learners.merlin."), file.name


@pytest.mark.parametrize("rate", [0.0, 1.1])
def test_impossible_settings_are_refused(rate):
    with pytest.raises(UsageError, match=f"sampling_rate is {rate}"):
        replace(SMALL, sampling_rate=rate)
    with pytest.raises(UsageError, match="latent is 0"):
        replace(SMALL, latent=0)

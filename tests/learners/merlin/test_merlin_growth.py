"""MERLIN with more classes and tasks than it was made for."""

import dataclasses

import pytest
import torch

from merlin_cl.battery import STREAM, TASKS, _examples, _learn
from merlin_cl.errors import UsageError
from merlin_cl.learners.merlin.decoders import Form
from merlin_cl.learners.merlin.distribution import WeightDistribution
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.protocol import StreamInfo, TaskInfo

SMALL = MerlinSettings(
    hidden_units=(8,), exemplars=12, models=3, base_models=3, learning_rate=2e-2, updates_per_batch=5, averaging=0.5,
    replay=4, chunk=10, hidden=8, vae_steps=10, fine_tune_rate=1e-2,
)  # fmt: skip


def learned(tasks=2, stream=STREAM, settings=SMALL):
    learner = settings.build(stream, seed=0)
    for task in TASKS[:tasks]:
        _learn(learner, task)
    return learner


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_what_every_task_is_in_the_mean_is_exactly_unchanged(rank):
    learner = learned(settings=dataclasses.replace(SMALL, rank=rank))
    wider = learner.grown(STREAM.classes + 20, STREAM.tasks + 4)
    x, _ = _examples(TASKS[0])
    for before, after in zip(learner.distribution.priors, wider.distribution.priors, strict=True):
        means = [
            one.network.apply(one.distribution.code.join(one.distribution.vae.generate(prior.mean[None])), x[None])
            for one, prior in ((learner, before), (wider, after))
        ]
        assert torch.allclose(means[0], means[1][..., : STREAM.classes], atol=1e-5)
        assert torch.equal(before.log_variance, after.log_variance[: len(before.log_variance)])


@pytest.mark.parametrize("which", [0, -1])
def test_that_holds_for_bases_of_entries_too(which, monkeypatch):
    """In the finest and the coarsest form."""
    monkeypatch.setattr(WeightDistribution, "_forms", lambda self, network, _: [[*Form.of_entries(network)][which]])
    test_what_every_task_is_in_the_mean_is_exactly_unchanged(rank=0)


def test_the_bytes_of_a_base_do_not_change_with_growth():
    """A rank that was chosen to fit stays, so that what is stored stays what it was."""
    learner = learned()
    wider = learner.grown(STREAM.classes + 20, STREAM.tasks)
    assert wider.distribution.vae.decoder.form == learner.distribution.vae.decoder.form
    again = wider.grown(STREAM.classes + 30, STREAM.tasks + 2)
    assert again.distribution.vae.decoder.form == learner.distribution.vae.decoder.form


def test_new_tasks_find_bases_of_their_own():
    stream = dataclasses.replace(STREAM, tasks=1)
    learner = learned(tasks=1, stream=stream)
    for task in TASKS[1:]:
        learner = learner.grown(STREAM.classes, task.index + 1)
        _learn(learner, task)
    for task in TASKS:
        assert learner.probe(task.index, *_examples(task))["sampled_ensemble"] > 90


def test_the_output_for_strangers_stays_the_last():
    stream = StreamInfo("domains", STREAM.input_shape, classes=2, tasks=2, domain_incremental=True)
    learner = dataclasses.replace(SMALL, replay=4).build(stream, seed=0)
    x, y = _examples(TASKS[0])
    for index in range(2):
        learner.begin(TaskInfo(index, (0, 1)))
        for _ in range(3):
            learner.observe(x[:, :, [2, 0, 1]] if index else x, y)
        learner.end()
    wider = learner.grown(4, 2)
    assert (learner.stranger, wider.stranger) == (2, 4)
    for inference in ("marginal", "aggregate"):
        before, after = (one.logits(x, inference=inference).softmax(dim=1) for one in (learner, wider))
        assert torch.allclose(before, after[:, :2], atol=1e-3)


def test_the_papers_decoder_says_that_it_cannot_grow():
    chunks = dataclasses.replace(SMALL, decoder="chunks", latent=2, embedding=2)
    with pytest.raises(UsageError, match="decoder chunks cannot take more classes"):
        learned(1, settings=chunks).grown(STREAM.classes + 1, STREAM.tasks)


def test_within_the_first_task_its_base_models_answer():
    learner = SMALL.build(STREAM, seed=0)
    with pytest.raises(UsageError, match="No task has been learned yet"):
        learner.logits(_examples(TASKS[0])[0])
    learner.begin(TASKS[0])
    x, y = _examples(TASKS[0])
    learner.observe(x, y)
    for inference in learner.inferences:
        assert (learner.logits(x, task=0, inference=inference).argmax(dim=1) == y).float().mean() > 0.9


def test_a_task_that_has_not_ended_is_answered_for_beside_those_that_have():
    learner = learned(1)
    learner.begin(TASKS[1])
    for _ in range(3):
        learner.observe(*_examples(TASKS[1]))
    for inference in ("marginal", "aggregate"):
        for task in TASKS[:2]:
            x, y = _examples(task)
            assert (learner.logits(x, inference=inference).argmax(dim=1) == y).float().mean() > 0.8

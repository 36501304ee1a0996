"""The paper's ablation without the VAE: nothing of a task but its exemplars reaches the models that answer."""

from dataclasses import replace

import torch

from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.streams.registry import stream_settings


def test_an_untrained_vae_knows_nothing_of_the_stream():
    stream = stream_settings("split-mnist")(tasks=1, images_per_task=100).build(seed=0)
    small = {"base_models": 2, "models": 2, "task_models": 2, "vae_steps": 20, "vae_epochs": 1}
    drawn = []
    for vae, learning_rate in (("untrained", 1e-3), ("untrained", 1e-2), ("trained", 1e-3)):
        settings = replace(MerlinSettings.preset("default", stream.info), **small, vae=vae, learning_rate=learning_rate)
        learner = settings.build(stream.info, seed=0)
        task = stream_settings("split-mnist")(tasks=1, images_per_task=100).build(seed=0)[0]
        learner.begin(task.info)
        for x, y in task.batches(10):
            learner.observe(x, y)
        learner.end()
        drawn.append(learner.distribution.sample(learner.distribution.priors[0], 2, torch.Generator().manual_seed(1)))
    first, second, trained = drawn
    assert torch.equal(first, second)  # however the base models learned
    assert not torch.equal(first, trained)

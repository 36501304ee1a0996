"""Exemplars alone, learned from when an answer is wanted."""

import torch

from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings, GDumbSettings
from merlin_cl.protocol import StreamInfo


def test_gdumb_is_an_ensemble_of_one(tiny):
    x, y = tiny.batch(0, size=50)
    one, ensemble = GDumbSettings().build(tiny.stream, 0), GDumbEnsembleSettings(models=1).build(tiny.stream, 0)
    for learner in (one, ensemble):
        learner.begin(tiny.tasks[0])
        learner.observe(x, y)
        learner.end()
    assert torch.equal(one.logits(x), ensemble.logits(x))


def test_gdumb_is_one_network_on_larger_images_too():
    assert GDumbSettings.preset("default", StreamInfo("pictures", (3, 32, 32), 10, 5)).models == 1

"""The settings of every stream have the paper's sizes, exactly."""

import pytest

from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.streams.registry import stream_settings


@pytest.mark.parametrize(
    ("stream", "classifier", "vae"),
    [
        ("split-mnist", 89_610, 31_426),
        ("permuted-mnist", 89_610, 31_446),
        ("split-cifar10", 31_307, 17_910),
        ("split-cifar100", 34_997, 33_810),
        ("split-miniimagenet", 34_997, 33_810),
    ],
)
def test_parameter_counts_of_the_paper(stream, classifier, vae):
    info = stream_settings(stream)().info()
    learner = MerlinPaperSettings.preset("default", info).build(info, seed=0)
    assert learner.parameters() == {"classifier": classifier, "meta_model": vae}
    assert learner.stored_bytes() == {"exemplars": 0, "meta_model": 4 * vae, "priors": 0}


@pytest.mark.parametrize("chunk", [100, 1000, 2000])
def test_other_chunks_make_another_vae(chunk):
    info = stream_settings("split-mnist")().info()
    layers = (50 * chunk + 50) + 2 * (2 * 50 + 2) + (50 * 4 + 50) + (chunk * 50 + chunk)  # encoder, its heads, decoder
    embeddings, priors = 2 * -(-89_610 // chunk), 2 * (2 * 5 + 2)
    parameters = MerlinPaperSettings(chunk=chunk).build(info, seed=0).parameters()
    assert parameters["meta_model"] == layers + embeddings + priors

"""Networks so small that no VAE fits into their bytes: then there is nothing to be saved by a low rank."""

import torch

from merlin_cl.learners.merlin.decoders import Form
from merlin_cl.learners.merlin.distribution import LARGEST_RANK
from merlin_cl.learners.merlin.settings import MerlinSettings
from merlin_cl.protocol import StreamInfo


def test_bases_hold_such_a_network_whole():
    learner = MerlinSettings(hidden_units=(20,)).build(StreamInfo("tiny", (2,), classes=3, tasks=10), seed=0)
    form = learner.distribution.vae.decoder.form
    assert form == Form.of_rank(learner.network, LARGEST_RANK)
    assert form.whole == set(learner.network.shapes)
    offsets = torch.randn(learner.network.size)
    learner.distribution.vae.decoder.absorb(0, offsets)
    assert torch.allclose(learner.distribution.vae.decoder.offsets(torch.eye(1, 10))[0], offsets)

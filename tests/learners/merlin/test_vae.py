"""The VAE's parts against their definitions."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Normal, kl_divergence

from merlin_cl.learners.merlin.chunks import ChunkCode
from merlin_cl.learners.merlin.vae import Gaussian, WeightVAE
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet


def draws(seed):
    return torch.Generator().manual_seed(seed)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999))
def test_divergence_is_that_of_torch_distributions(seed):
    q, p = (Gaussian(*torch.randn(2, 4, 3, generator=draws(seed + shift))) for shift in (0, 1000))
    ours = q.divergence(p)
    theirs = kl_divergence(*(Normal(g.mean, (g.log_variance / 2).exp()) for g in (q, p))).sum(-1)
    torch.testing.assert_close(ours, theirs)


def test_samples_have_the_mean_and_variance_asked_for():
    gaussian = Gaussian(torch.tensor([1.0, -2.0]), torch.tensor([0.0, 2.0]).log().clamp(min=-2.0))
    sample = gaussian.sample(draws(0), 200_000)
    torch.testing.assert_close(sample.mean(0), gaussian.mean, atol=0.02, rtol=0)
    torch.testing.assert_close(sample.var(0), gaussian.log_variance.exp(), atol=0.03, rtol=0)


def test_the_average_prior_averages_means_and_variances():
    one, other = (
        Gaussian(torch.tensor([0.0]), torch.tensor([1.0]).log()),
        Gaussian(torch.tensor([4.0]), torch.tensor([3.0]).log()),
    )
    average = Gaussian.mean_of([one, other])
    torch.testing.assert_close(average.mean, torch.tensor([2.0]))
    torch.testing.assert_close(average.log_variance.exp(), torch.tensor([2.0]))


@pytest.mark.parametrize("per_model", [True, False])
def test_decoding_is_a_network_on_latent_and_chunk_embedding(per_model):
    vae = WeightVAE(chunks=5, size=4, hidden=6, latent=3, embedding=2, task_width=2, per_model=per_model)
    vae.reset(draws(0))
    z, positions = torch.randn(2, 3, generator=draws(1)), torch.tensor([4, 0, 2])
    joined = torch.cat([z.unsqueeze(1).expand(-1, 3, -1), vae.embedding(positions).expand(2, -1, -1)], dim=-1)
    expected = vae.decoded(vae.decoder(joined).relu())
    torch.testing.assert_close(vae.generate(z, positions), expected)
    torch.testing.assert_close(vae.generate(z)[:, positions], expected)


@pytest.mark.parametrize("layout", ["in-out", "out-in"])
@settings(max_examples=20, deadline=None)
@given(size=st.integers(1, 60), seed=st.integers(0, 99))
def test_cutting_and_joining_gives_the_model_back(layout, size, seed):
    network = MLP((3,), 2, (4,))
    origin = network.initial(1, draws(seed))[0]
    code = ChunkCode(network, size, layout, True, origin)
    psi = network.initial(3, draws(seed + 1))
    chunks = code.cut(psi)
    assert chunks.shape == (3, code.count, size)
    torch.testing.assert_close(code.join(chunks), psi)


def test_layouts_order_the_offsets():
    network = MLP((3,), 2, (4,))
    psi = network.initial(1, draws(0))
    zero = torch.zeros(network.size)
    plain = ChunkCode(network, network.size, "in-out", True, zero).cut(psi)[0, 0]
    torch_order = ChunkCode(network, network.size, "out-in", True, zero).cut(psi)[0, 0]
    assert torch.equal(plain, psi[0])
    module = torch.nn.utils.parameters_to_vector(network.module(psi[0]).parameters()).detach()
    assert torch.equal(torch_order, module)


def test_statistics_may_be_left_out():
    network = ResNet((3, 8, 8), 2)
    origin, psi = network.initial(1, draws(0))[0], torch.randn(2, network.size, generator=draws(1))
    for layout in ("in-out", "out-in"):
        back = ChunkCode(network, 50, layout, False, origin).join(
            ChunkCode(network, 50, layout, False, origin).cut(psi)
        )
        torch.testing.assert_close(back[:, : network.learned], psi[:, : network.learned])
        assert torch.equal(back[:, network.learned :], origin[network.learned :].expand(2, -1))

"""The weight distribution's parts against their definitions."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Normal, kl_divergence

from merlin_cl.learners.merlin_paper.distribution import WeightDistribution
from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.merlin_paper.vae import Gaussian
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet


def draws(seed):
    return torch.Generator().manual_seed(seed)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999))
def test_divergence_is_that_of_torch_distributions(seed):
    q, p = (Gaussian(*torch.randn(2, 4, 3, generator=draws(seed + shift))) for shift in (0, 1000))
    theirs = kl_divergence(*(Normal(g.mean, (g.log_variance / 2).exp()) for g in (q, p))).sum(-1)
    torch.testing.assert_close(q.divergence(p), theirs)


def test_samples_have_the_mean_and_variance_asked_for():
    gaussian = Gaussian(torch.tensor([1.0, -2.0]), torch.tensor([0.5, 2.0]).log())
    sample = gaussian.sample(draws(0), 200_000)
    torch.testing.assert_close(sample.mean(0), gaussian.mean, atol=0.02, rtol=0)
    torch.testing.assert_close(sample.var(0), torch.tensor([0.5, 2.0]), atol=0.03, rtol=0)


def test_the_aggregated_prior_averages_means_and_variances_as_line_2_of_algorithm_3_has_it():
    priors = [
        Gaussian(torch.tensor([mean]), torch.tensor([variance]).log()) for mean, variance in ((0.0, 1.0), (4.0, 3.0))
    ]
    for reading, variance in (("text", 2.0), ("code", 2.718282)):
        distribution = WeightDistribution(MLP((3,), 2, (4,)), MerlinPaperSettings(reading=reading), 2, draws(0))
        distribution.priors = priors
        average = distribution.aggregate_prior()
        torch.testing.assert_close(average.mean, torch.tensor([2.0]))
        torch.testing.assert_close(average.log_variance.exp(), torch.tensor([variance]))


@settings(max_examples=20, deadline=None)
@given(chunk=st.integers(1, 60), seed=st.integers(0, 99))
def test_cutting_and_joining_gives_the_model_back_with_zeros_at_the_end(chunk, seed):
    network = MLP((3,), 2, (4,))
    distribution = WeightDistribution(network, MerlinPaperSettings(chunk=chunk), 2, draws(0))
    psi = network.initial(3, draws(seed))
    chunks = distribution.cut(psi)
    assert chunks.shape == (3, -(-network.size // chunk), chunk)
    assert not chunks.flatten(1)[:, network.size :].any()
    assert torch.equal(distribution.joined(chunks), psi)


def test_psi_is_the_whole_state_dict_in_its_order():
    network = ResNet((3, 8, 8), 2)
    distribution = WeightDistribution(network, MerlinPaperSettings(), 2, draws(0))
    psi = torch.randn(1, network.size, generator=draws(1))
    module = network.module(psi[0])
    flat = torch.cat([value.flatten().float() for value in module.state_dict().values()])
    cut = distribution.cut(psi).flatten()[: network.size]
    counters = torch.cat(
        [torch.full_like(v.flatten().float(), v.dtype == torch.int64) for v in module.state_dict().values()]
    ).bool()  # which torch has as whole numbers
    assert torch.equal(cut[~counters], flat[~counters])


def test_the_variance_of_a_prior_is_linear_in_the_task_vector():
    vae = WeightDistribution(MLP((3,), 2, (4,)), MerlinPaperSettings(), 3, draws(0)).vae
    assert torch.equal(vae.prior(torch.eye(3)[2]).log_variance, torch.zeros(2))
    vae.views(vae.weights)["prior_variance_weight"].uniform_(-0.5, 0.5, generator=draws(1))
    one, other = torch.eye(3)[0], torch.eye(3)[1]
    half = vae.prior((one + other) / 2).log_variance.exp()
    torch.testing.assert_close(half, (vae.prior(one).log_variance.exp() + vae.prior(other).log_variance.exp()) / 2)
    assert (half > 0).all()

"""The autoencoder's bound against its definition, and that it learns a distribution."""

import math

import pytest
import torch
from torch.distributions import Bernoulli, Normal, kl_divergence

from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.vae import VAE


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_the_bound_is_fit_minus_divergence(likelihood):
    vae = VAE(data=5, latent=2, hidden=4, likelihood=likelihood, noise=0.4)
    generator = torch.Generator().manual_seed(0)
    flat = vae.initial(1, generator)
    data = torch.randint(0, 2, (1, 6, 5), generator=generator).float()
    outputs = vae.apply(flat, torch.cat([data, torch.randn(1, 6, 2, generator=generator)], dim=2))
    reconstruction, mean, log_variance = outputs.split([5, 2, 2], dim=2)
    fit = Bernoulli(logits=reconstruction) if likelihood == "bernoulli" else Normal(reconstruction, 0.4)
    divergence = kl_divergence(Normal(mean, (log_variance / 2).exp()), Normal(0.0, 1.0))
    expected = fit.log_prob(data).sum(2) - divergence.sum(2)
    torch.testing.assert_close(vae.bounds(outputs, data), expected)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3, 1e6])
def test_inputs_of_any_size_have_a_finite_bound_and_gradient(size):
    vae = VAE(3, 2, 8, "gaussian")
    weights = vae.initial(1, torch.Generator().manual_seed(0)).requires_grad_()
    inputs = torch.cat([torch.full((1, 4, 3), size), torch.ones(1, 4, 2)], dim=2)
    bounds = vae.bounds(vae.apply(weights, inputs), inputs[:, :, :3])
    (gradient,) = torch.autograd.grad(bounds.mean(), weights)
    assert torch.isfinite(bounds).all()
    assert torch.isfinite(gradient).all()


def test_the_module_answers_as_the_network():
    vae = VAE(3, 2, 4, "gaussian")
    row = vae.initial(1, torch.Generator().manual_seed(0))[0]
    x = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(vae.module(row)(x), vae.apply(row.unsqueeze(0), x.unsqueeze(0))[0])


def test_what_it_generates_is_like_what_it_learned():
    """A ring of radius one: generated points lie near it."""
    vae, generator = VAE(2, 2, 32, "gaussian", noise=0.1), torch.Generator().manual_seed(0)
    bank = Bank(vae, vae.initial(1, generator))
    training = Training(bank, 1e-2)
    for _ in range(600):
        angle = 2 * math.pi * torch.rand(64, generator=generator)
        data = torch.stack([angle.cos(), angle.sin()], dim=1)
        inputs = torch.cat([data, torch.randn(64, 2, generator=generator)], dim=1)
        training.gradient(inputs.unsqueeze(0), lambda outputs, data=data: -vae.bounds(outputs[0], data).mean())
        training.update()
    made = vae.generate(bank.weights, torch.randn(1, 500, 2, generator=generator))[0]
    assert (made.norm(dim=1) - 1).abs().median() < 0.15
    assert made.mean(0).norm() < 0.3

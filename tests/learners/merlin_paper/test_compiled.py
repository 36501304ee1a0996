"""The compiled loop arrives where a plain torch program does: `torch.nn` layers, autograd, `torch.optim`, one chunk a step."""

import math

import pytest
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

from merlin_cl.learners.merlin_paper.compiled import Parts
from merlin_cl.learners.merlin_paper.distribution import WeightDistribution
from merlin_cl.learners.merlin_paper.fitting import Fitting
from merlin_cl.learners.merlin_paper.settings import MerlinPaperSettings
from merlin_cl.learners.merlin_paper.vae import LEAST_VARIANCE
from merlin_cl.learners.phases import Phases
from merlin_cl.networks.mlp import MLP

NETWORK = MLP((5,), 4, (8,))
TASK = torch.tensor([0.0, 1.0, 0.0])
SMALL = {"chunk": 11, "hidden": 7, "latent": 3}


def draws(seed):
    return torch.Generator().manual_seed(seed)


class Plain(nn.Module):
    """The VAE as one would write it."""

    def __init__(self, vae):
        super().__init__()
        chunks, size, hidden, latent, tasks = vae.sizes
        self.recipe = vae.recipe
        self.encoder, self.mean, self.log_variance = (
            nn.Linear(size, hidden), nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        )  # fmt: skip
        self.embedding = nn.Parameter(torch.zeros(chunks, latent))
        self.decoder, self.output = nn.Linear(2 * latent, hidden), nn.Linear(hidden, size)
        self.prior_mean, self.prior_variance = nn.Linear(tasks, latent), nn.Linear(tasks, latent)
        values = {name: value.clone() for name, value in vae.views(vae.weights).items()}
        self.load_state_dict(
            {name.replace("_weight", ".weight").replace("_bias", ".bias"): value for name, value in values.items()}
        )

    def loss(self, x, position, noise, kept, learned_prior):
        h = (self.encoder(x) * kept[0]).relu()
        q = Normal(self.mean(h), (self.log_variance(h) / 2).exp())
        code = torch.cat([self.embedding[position], q.loc + noise * q.scale])
        u = self.decoder(code) * kept[1]
        output = self.output(u.tanh()).tanh() if self.recipe.tanh else self.output(u.relu())
        mean, variance = self.prior_mean(TASK), self.prior_variance(TASK)
        variance = variance.exp() if self.recipe.log_variance else variance
        p = Normal(mean, variance.sqrt()) if learned_prior else Normal(torch.zeros(len(mean)), torch.ones(len(mean)))
        squares = (output - x).square()
        return (squares.mean() if self.recipe.mean_square else squares.sum() / 2) + kl_divergence(q, p).sum()


@pytest.mark.parametrize("prior", ["learned", "standard-normal"])
@pytest.mark.parametrize("reading", ["text", "code"])
def test_after_400_steps_weights_are_those_of_a_plain_torch_program(reading, prior):
    settings = MerlinPaperSettings(**SMALL, reading=reading, prior=prior)
    distribution = WeightDistribution(NETWORK, settings, len(TASK), draws(0))
    recipe, models = settings.recipe, 5
    chunks = distribution.cut(NETWORK.initial(models, draws(1)))
    assert chunks.shape[1] == 8
    fitting, drawn = Fitting(distribution, TASK, draws(2)), draws(2)
    if recipe.new_vae:
        distribution.fresh_vae(drawn)  # the same was drawn for the fitting
    plain = Plain(fitting.vae)
    fitting.learn(chunks, 10, phases := Phases())

    if reading == "text":
        optimiser = torch.optim.Adagrad(plain.parameters(), lr=1e-3)
    else:
        optimiser = torch.optim.Adadelta(plain.parameters(), lr=5e-3, rho=0.9, eps=1e-2)
    met, rows = [], chunks.flatten(0, 1)
    for _ in range(10):
        order = torch.randperm(len(rows), generator=drawn) if recipe.shuffled else torch.arange(len(rows))
        draw = torch.rand if recipe.uniform_noise else torch.randn
        noise, kept = draw(len(rows), 3, generator=drawn), torch.ones(len(rows), 2, 7)
        if recipe.dropout:
            kept = (torch.rand(len(rows), 2, 7, generator=drawn) >= 0.3).float() / 0.7
        for step, row in enumerate(order.tolist()):
            loss = plain.loss(rows[row], row % 8, noise[step], kept[step], prior == "learned")
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            met.append(float(loss.detach()))

    assert len(met) == 400
    ours = fitting.vae.views(fitting.vae.weights)
    for name, value in plain.state_dict().items():
        torch.testing.assert_close(ours[name.replace(".", "_")], value, rtol=0, atol=1e-5)
    passes = torch.tensor(met).view(10, -1).mean(dim=1)
    torch.testing.assert_close(torch.tensor(phases.losses["negative_elbo"]), passes, rtol=1e-4, atol=0)


def test_a_variance_below_the_floor_counts_as_the_floor_and_can_rise():
    settings = MerlinPaperSettings(**SMALL)
    distribution = WeightDistribution(NETWORK, settings, len(TASK), draws(0))
    distribution.vae.views(distribution.vae.weights)["prior_variance_bias"].fill_(-1.0)
    fitting = Fitting(distribution, TASK, draws(1))
    assert fitting.prior.log_variance.tolist() == pytest.approx([math.log(LEAST_VARIANCE)] * 3)
    before = fitting.vae.views(fitting.vae.weights)["prior_variance_bias"].clone()
    fitting.learn(distribution.cut(NETWORK.initial(1, draws(2))), 1, Phases())
    assert (fitting.vae.views(fitting.vae.weights)["prior_variance_bias"] > before).all()


def test_the_torch_form_of_the_bound_has_the_same_gradient():
    """Consolidation takes the one, the compiled loop the other."""
    settings = MerlinPaperSettings(**SMALL)
    distribution = WeightDistribution(NETWORK, settings, len(TASK), draws(0))
    chunk, noise = torch.randn(1, 11, generator=draws(1)), torch.randn(1, 3, generator=draws(3))
    compiled, by_torch = (Fitting(distribution, TASK, draws(2)) for _ in range(2))
    compiled._generator = draws(3)
    compiled._one_pass(chunk, torch.tensor([5]))
    vae = by_torch.differentiable()
    loss = vae.negative_bound(chunk, torch.tensor([5]), vae.prior(TASK), noise).sum()
    (gradient,) = torch.autograd.grad(loss, vae.weights)
    by_torch.step(gradient)
    torch.testing.assert_close(compiled._squares, gradient.square(), rtol=1e-4, atol=1e-9)
    torch.testing.assert_close(compiled.vae.weights, by_torch.vae.weights, rtol=0, atol=1e-6)


def test_the_loop_and_the_vae_name_the_same_layers_in_the_same_order():
    vae = WeightDistribution(NETWORK, MerlinPaperSettings(), 2, draws(0)).vae
    assert tuple(vae.shapes) == Parts._fields

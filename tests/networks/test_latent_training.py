"""Learning in the latent space equals a plain torch program, for every kind of network."""

import pytest
import torch
from torch import nn

from merlin_cl.networks.latent_training import LatentTraining
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.module_bank import ModuleNetwork
from merlin_cl.networks.resnet import ResNet
from merlin_cl.networks.sketch import Sketch


def small_module(input_shape, classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 6), nn.Tanh(), nn.Linear(6, classes))


NETWORKS = {
    "mlp": MLP((3, 2, 2), 4, (9,)),
    "resnet": ResNet((3, 8, 8), 4, maps=(2, 3)),
    "module": ModuleNetwork(small_module, (3, 2, 2), 4),
}


def generators(*purpose):
    return torch.Generator().manual_seed(len(str(purpose)) * 7 + 1)


@pytest.mark.parametrize("kind", NETWORKS)
def test_fifty_steps_are_those_of_adam_on_z_in_plain_torch(kind):
    network, members = NETWORKS[kind], 2
    torch.manual_seed(0)
    sketch = Sketch(network, 40, generators, network, range(4))
    starts = network.initial(members, torch.Generator().manual_seed(1))
    training = LatentTraining(sketch, starts, torch.zeros(members, sketch.size), 1e-2)
    plain = []
    for m in range(members):
        z = torch.zeros(sketch.size, requires_grad=True)
        plain.append((z, torch.optim.Adam([z], lr=1e-2), network.module(starts[m]).train()))
    allowed = torch.tensor([True, True, True, False])
    for step in range(50):
        x = torch.randn(members, 6, *network.input_shape, generator=torch.Generator().manual_seed(step))
        y = torch.randint(3, (members, 6), generator=torch.Generator().manual_seed(step))
        training.step(x, y, allowed)
        for m, (z, optimiser, module) in enumerate(plain):
            psi = starts[m].clone()
            psi[: network.learned] += sketch.offsets(z.unsqueeze(0))[0]
            views = network.torch_views(psi.unsqueeze(0))
            names = [name for name, _ in module.named_parameters()]
            values = [views[name][0] for name in _in_order(network, names)]
            tensors = {n: (v.movedim(-1, 0) if v.dim() > 1 else v) for n, v in zip(names, values, strict=True)}
            logits = torch.func.functional_call(module, tensors, (x[m],)).masked_fill(~allowed, -1e10)
            optimiser.zero_grad()
            nn.functional.cross_entropy(logits, y[m]).backward()
            optimiser.step()
    for m, (z, _, _) in enumerate(plain):
        torch.testing.assert_close(training.z[m], z.detach(), rtol=1e-4, atol=1e-5)


def _in_order(network, names):
    """The network's names of a module's parameters."""
    if isinstance(network, MLP):
        return [f"{layer}.{part}" for layer in range(len(network.widths) - 1) for part in ("weight", "bias")]
    return names


def test_state_and_restore_go_on_as_if_uninterrupted():
    network = NETWORKS["resnet"]
    sketch = Sketch(network, 60, generators, network, range(4))
    starts = network.initial(3, torch.Generator().manual_seed(1))
    x, y = torch.randn(3, 5, 3, 8, 8), torch.randint(4, (3, 5))
    allowed = torch.ones(4, dtype=torch.bool)
    one, other = (LatentTraining(sketch, starts, torch.zeros(3, sketch.size), 1e-2) for _ in range(2))
    for _ in range(3):
        one.step(x, y, allowed)
    other.restore(one.state())
    for training in (one, other):
        training.step(x, y, allowed)
    assert torch.equal(one.z, other.z)
    assert torch.equal(one.statistics, other.statistics)

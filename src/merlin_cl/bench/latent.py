"""A training step in the latent space against one of all weights by Adam, and against a plain torch program of the same."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from merlin_cl.bench.measurement import Measurement, ProgressCallback, table
from merlin_cl.bench.timing import Work, compare
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.latent_training import LatentTraining
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.network import Network, outputs_first
from merlin_cl.networks.resnet import ResNet
from merlin_cl.networks.sketch import Sketch

SIZES: tuple[tuple[str, Callable[[], Network], int, int], ...] = (
    ("MLP", lambda: MLP((1, 28, 28), 10), 8000, 10),
    ("ResNet", lambda: ResNet((3, 32, 32), 10), 12_000, 30),
)
"""Name, network, numbers in z and examples in a batch, as MERLIN has them by default."""


def measure(told: ProgressCallback) -> Measurement:
    """Take steps of both networks, alone and in a bank."""
    timings = table("network", "members", "all weights / latent", "plain torch / latent", "ms a step")
    sizes = [(size, members) for size in SIZES for members in ((1, 6) if size[0] == "MLP" else (1, 3))]
    for place, ((name, make, numbers, batch), members) in enumerate(sizes):
        told(place, len(sizes))
        taken = compare(steps(make(), numbers, members, batch), seconds=5)
        timings.add_row(
            name,
            str(members),
            f"{taken['all weights'] / taken['latent']:.2f}x",
            f"{taken['plain torch'] / taken['latent']:.2f}x",
            f"{1e3 * taken['latent']:.2f}",
        )
    return Measurement(
        "Learning in the latent space",
        "psi = psi_0 + S z, Adam on z; one thread",
        f"a step of three ResNets in the latent space is {taken['plain torch'] / taken['latent']:.1f} times as fast as in "
        "plain torch",
        timings,
        "plain torch: modules one by one, S as an index and signs, autograd, torch.optim.Adam",
    )


def steps(network: Network, numbers: int, members: int, batch: int) -> dict[str, Work]:
    """One training step in each of the three ways, on the same batch."""
    draws = torch.Generator().manual_seed(0)
    sketch = Sketch(network, numbers, _generators, network, range(network.classes))
    x = torch.rand(members, batch, *network.input_shape, generator=draws)
    y, everything = torch.randint(0, network.classes, (members, batch), generator=draws), _all(network)
    starts = network.initial(members, draws)
    latent = LatentTraining(sketch, starts, torch.zeros(members, sketch.size), learning_rate=1e-3)
    weights = Training(Bank(network, starts.clone()), learning_rate=1e-3)
    return {
        "latent": lambda: latent.step(x, y, everything),
        "all weights": lambda: weights.step(x, y, everything),
        "plain torch": _plain(network, sketch, starts, x, y),
    }


def _plain(network: Network, sketch: Sketch, starts: Tensor, x: Tensor, y: Tensor) -> Work:
    """The members one after the other, each a module whose weights are a function of its z."""
    signs = sketch.offsets(torch.ones(1, sketch.size))[0]
    places = sketch.offsets(torch.arange(1.0, sketch.size + 1).unsqueeze(0))[0].abs().long() - 1
    modules = [network.module(start).train() for start in starts]
    latents = [torch.zeros(sketch.size, requires_grad=True) for _ in starts]
    optimisers = [torch.optim.Adam([z], lr=1e-3) for z in latents]

    def step() -> None:
        for start, module, z, optimiser, inputs, labels in zip(starts, modules, latents, optimisers, x, y, strict=True):
            optimiser.zero_grad()
            psi = torch.cat([start[: network.learned] + signs * z[places], start[network.learned :]])
            logits = functional_call(module, _named(module, network.torch_views(psi.unsqueeze(0))), (inputs,))
            functional.cross_entropy(logits, labels).backward()
            optimiser.step()

    return step


def _named(module: nn.Module, views: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights by the names of a module's parameters, which come in the same order."""
    names = [name for name, _ in module.named_parameters()]
    chosen = [views[name] for name in names] if set(names) <= set(views) else list(views.values())
    return {name: outputs_first(view[0]) for name, view in zip(names, chosen, strict=True)}


def _generators(*purpose: str | int) -> torch.Generator:
    return torch.Generator().manual_seed(sum(map(ord, str(purpose))))


def _all(network: Network) -> Tensor:
    return torch.ones(network.classes, dtype=torch.bool)

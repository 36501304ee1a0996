"""The bank against a loop of `torch.nn` networks with `torch.optim.Adam`, and against what memory traffic alone would take."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from merlin_cl.bench.measurement import Measurement, ProgressCallback, table
from merlin_cl.bench.timing import Work, compare
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.mlp import MLP

NETWORK = MLP((1, 28, 28), 10)
BATCH, INPUTS = 10, 1000
MEMBERS = (1, 10, 30)
PASSES = 9
"""Times a training step must go over as many numbers as there are weights: the forward pass reads the weights, the backward
pass writes their gradients, Adam reads weights, gradients and two moments and writes weights and moments."""


def measure(told: ProgressCallback) -> Measurement:
    """Train and ask banks of several sizes."""
    generator = torch.Generator().manual_seed(0)
    x, y = torch.rand(BATCH, 1, 28, 28, generator=generator), torch.randint(0, 10, (BATCH,), generator=generator)
    inputs = torch.rand(INPUTS, 1, 28, 28, generator=generator)
    timings = table(
        "networks", "train: loop / bank", "bank / bandwidth", "predict: loop / bank", "dense inputs / digits"
    )
    for place, members in enumerate(MEMBERS):
        told(place, len(MEMBERS))
        weights = NETWORK.initial(members, generator)
        train = compare({**_train(weights, x, y), "copy": _copy(weights)}, seconds=6)
        predict = compare(_predict(weights, inputs), seconds=3)
        kinds = compare(_kinds(weights, inputs), seconds=2)
        bandwidth = 2 * weights.nbytes / train["copy"]  # bytes a second: a copy reads and writes
        bound = PASSES * weights.nbytes / bandwidth
        timings.add_row(
            str(members),
            f"{train['loop'] / train['bank']:.1f}x ({1e3 * train['loop']:.1f} / {1e3 * train['bank']:.1f} ms)",
            f"{train['bank'] / bound:.1f}x ({bandwidth / 1e9:.0f} GB/s)",
            f"{predict['loop'] / predict['bank']:.1f}x ({1e3 * predict['loop']:.0f} / {1e3 * predict['bank']:.0f} ms)",
            f"{kinds['dense'] / kinds['digits']:.1f}x",
        )
    return Measurement(
        "Bank of MLPs",
        "784-100-100-10, batches of 10, predictions for 1,000; one thread; loop: torch.nn with torch.optim.Adam",
        f"a bank of {members} networks trains {train['loop'] / train['bank']:.1f} times as fast as a loop",
        timings,
        f"bandwidth: {PASSES} passes over the weights at the speed of a copy of as many numbers",
    )


def _train(weights: Tensor, x: Tensor, y: Tensor) -> dict[str, Work]:
    bank = Bank(NETWORK, weights.clone())
    training, everything = Training(bank, learning_rate=1e-3), torch.ones(10, dtype=torch.bool)
    modules = [NETWORK.module(row) for row in weights]
    optimisers = [torch.optim.Adam(module.parameters(), lr=1e-3) for module in modules]

    def loop() -> None:
        for module, optimiser in zip(modules, optimisers, strict=True):
            optimiser.zero_grad()
            functional.cross_entropy(module(x), y).backward()
            optimiser.step()

    return {"bank": lambda: training.step(x, y, everything), "loop": loop}


def _predict(weights: Tensor, inputs: Tensor) -> dict[str, Work]:
    bank = Bank(NETWORK, weights)
    modules: list[nn.Module] = [NETWORK.module(row) for row in weights]

    @torch.inference_mode()
    def loop() -> Tensor:
        return torch.stack([module(inputs) for module in modules])

    return {"bank": lambda: bank.logits(inputs), "loop": loop}


def _kinds(weights: Tensor, inputs: Tensor) -> dict[str, Work]:
    """Inputs all of which count, and such of which four fifths are zero, as in digits."""
    bank, digits = Bank(NETWORK, weights), (inputs - 0.8).clamp(min=0)
    return {"dense": lambda: bank.logits(inputs), "digits": lambda: bank.logits(digits)}


def _copy(weights: Tensor) -> Work:
    source, target = weights.clone(), torch.empty_like(weights)
    return lambda: target.copy_(source)

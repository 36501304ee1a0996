"""Throughput of a bank of the paper's ResNet-10 against plain `torch.nn` networks, torch's convolutions, and arithmetic.

    python benchmarks/resnet_bank.py

One thread, batches of 30 images, CPU time. The sides run alternately in one process and the median ratios are printed, so that
other load on the machine weighs on all. `x loop`: how many times as fast as plain networks in turn; `x torch`: as a bank by
torch's grouped convolutions, which run on other devices; `rate`: multiplications and additions a second, as a share of those of a
large float32 matrix product, measured here too.
"""

import time
from collections.abc import Callable
from statistics import median
from unittest import mock

import torch
from torch.nn import functional

from merlin_cl.networks import resnet
from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.resnet import ResNet

BATCH, QUESTIONS, ROUNDS, SECONDS = 30, 100, 15, 5.0
EVERYTHING = torch.ones(10, dtype=torch.bool)
Work = Callable[[], object]


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    peak = matmul_speed()
    print(f"one thread, batch {BATCH}, matrix product {peak / 1e9:.0f} GFLOP/s")
    print(f"{'':32}{'M':>4}{'x loop':>9}{'x torch':>9}{'rate':>7}{'ms':>9}{'ms torch':>10}{'ms loop':>9}")
    for network, counts in ((ResNet((3, 32, 32), 10), (1, 3, 8)), (ResNet((3, 84, 84), 10), (1, 3))):
        for members in counts:
            loop, banks = training(network, members)
            operations = 3 * forward_operations(network) - stem_operations(network)  # images need no gradient
            for name, work in banks.items():
                report(network, f"train, {name}", members, loop, work, members * BATCH * operations / peak)
            loop, work = prediction(network, members)
            ideal = members * QUESTIONS * forward_operations(network) / peak
            report(network, f"predict {QUESTIONS}", members, loop, work, ideal)


def report(network: ResNet, name: str, members: int, loop: Work, bank: Work, ideal: float) -> None:
    """One line of the table: medians of the ratios, and each side's fastest time."""
    sides = [loop, lambda: by_torch(bank), bank]
    for side in sides:
        side()
    times: list[list[float]] = []
    start = time.perf_counter()
    while len(times) < 3 or (len(times) < ROUNDS and time.perf_counter() - start < SECONDS):
        times.append([seconds(side) for side in sides])
    slow, library, fast = (1e3 * min(side) for side in zip(*times, strict=True))
    by_loop, by_library = median(a / c for a, _, c in times), median(b / c for _, b, c in times)
    label = f"{network.input_shape[1]}x{network.input_shape[2]}, {name}"
    print(
        f"{label:32}{members:4}{by_loop:9.2f}{by_library:9.2f}{1e3 * ideal / fast:7.0%}{fast:9.1f}{library:10.1f}{slow:9.1f}",
        flush=True,
    )


def by_torch(work: Work) -> object:
    """The same by torch's convolutions."""
    with mock.patch.object(resnet, "_compiled", return_value=False):
        return work()


def training(network: ResNet, members: int) -> tuple[Work, dict[str, Work]]:
    """A step of every member: by plain networks in turn, and by the bank on three kinds of batches."""
    generator = torch.Generator().manual_seed(0)
    weights = network.initial(members, generator)
    plain = [network.module(row) for row in weights]
    optimisers = [torch.optim.Adam(module.parameters(), lr=1e-3) for module in plain]
    x = torch.rand(members, BATCH, *network.input_shape, generator=generator)
    y = torch.randint(0, 10, (members, BATCH), generator=generator)
    shares = (torch.rand(members, BATCH, generator=generator) < 0.9).float()

    def loop() -> None:
        for module, optimiser, images, labels in zip(plain, optimisers, x, y, strict=True):
            optimiser.zero_grad()
            functional.cross_entropy(module(images), labels).backward()
            optimiser.step()

    bank = Training(Bank(network, weights), learning_rate=1e-3)
    return loop, {
        "own batches": lambda: bank.step(x, y, EVERYTHING),
        "own batches, shares": lambda: bank.step(x, y, EVERYTHING, shares),
        "one batch": lambda: bank.step(x[0], y[0], EVERYTHING),
    }


def prediction(network: ResNet, members: int) -> tuple[Work, Work]:
    """Every member's logits for the same images: by plain networks in turn, and by the bank."""
    bank = Bank(network, network.initial(members, torch.Generator().manual_seed(0)))
    plain = [network.module(row).eval() for row in bank.weights]
    x = torch.rand(QUESTIONS, *network.input_shape)

    @torch.inference_mode()
    def loop() -> list[torch.Tensor]:
        return [module(x) for module in plain]

    return loop, lambda: bank.logits(x)


def forward_operations(network: ResNet) -> int:
    """Multiplications and additions of one member for one image."""
    total, side = 2 * network.maps[-1] * network.classes, network.input_shape[1]
    for block in network.blocks:
        side = (side + block.first.stride - 1) // block.first.stride
        total += sum(2 * layer.inputs * layer.outputs * layer.kernel**2 * side**2 for layer in block if layer)
    return total + stem_operations(network)


def stem_operations(network: ResNet) -> int:
    """Those of the first convolution alone."""
    stem, (_, height, width) = network.stem, network.input_shape
    return 2 * stem.inputs * stem.outputs * stem.kernel**2 * height * width


def matmul_speed() -> float:
    """Operations a second of a float32 matrix product of 1024 x 1024."""
    a = torch.rand(1024, 1024)
    return 2 * 1024**3 / min(seconds(lambda: a @ a) for _ in range(10))


def seconds(work: Work) -> float:
    """CPU time of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()

"""Throughput of a bank of the paper's ResNet-10 against a loop of plain `torch.nn` networks, and against arithmetic.

    python benchmarks/resnet_bank.py

One thread, batches of 10 images 32x32x3, CPU time. Both sides run alternately in one process and the median ratio is
printed, so that other load on the machine weighs on both. `arithmetic` is how many times longer the bank takes than its
multiplications and additions would at the speed of a large float32 matrix product, measured here too. About 2.1 of it is
inherent in 5/10/20/40 maps where a vector has 16 lanes and holds one member's maps; most of the rest is memory traffic.
"""

import time
from collections.abc import Callable
from statistics import median

import torch
from torch.nn import functional

from merlin_cl.networks.bank import Bank, Training
from merlin_cl.networks.resnet import ResNet

NETWORK = ResNet((3, 32, 32), 10)
BATCH, QUESTIONS, ROUNDS, SECONDS = 10, 100, 9, 2.5
EVERYTHING = torch.ones(10, dtype=torch.bool)
Work = Callable[[], object]


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    peak = matmul_speed()
    print(f"one thread, batch {BATCH}, matrix product {peak / 1e9:.0f} GFLOP/s")
    print(f"{'':26}{'M':>4}{'x loop':>9}{'arithmetic':>12}{'ms bank':>10}{'ms loop':>10}")
    for members in (1, 10, 30):
        loop, bank_works = training(members)
        operations = members * BATCH * (3 * forward_operations() - stem_operations())  # images need no gradient
        for name, work in bank_works.items():
            report(f"train, {name}", members, loop, work, operations / peak)
        loop, work = prediction(members)
        report(f"predict {QUESTIONS}", members, loop, work, members * QUESTIONS * forward_operations() / peak)


def report(name: str, members: int, loop: Work, bank: Work, ideal: float) -> None:
    """One line of the table: median of the ratios, and each side's fastest time."""
    pairs: list[tuple[float, float]] = []
    loop(), bank()
    start = time.perf_counter()
    while len(pairs) < 3 or (len(pairs) < ROUNDS and time.perf_counter() - start < SECONDS):
        pairs.append((seconds(loop), seconds(bank)))
    ratio = median(a / b for a, b in pairs)
    slow, fast = min(a for a, _ in pairs), min(b for _, b in pairs)
    print(f"{name:26}{members:4}{ratio:9.2f}{fast / ideal:12.1f}{fast * 1e3:10.1f}{slow * 1e3:10.1f}", flush=True)


def training(members: int) -> tuple[Work, dict[str, Work]]:
    """A step of every member: by plain networks in turn, and by the bank on three kinds of batches."""
    generator = torch.Generator().manual_seed(0)
    weights = NETWORK.initial(members, generator)
    plain = [NETWORK.module(row) for row in weights]
    optimisers = [torch.optim.Adam(module.parameters(), lr=1e-3) for module in plain]
    x = torch.rand(members, BATCH, 3, 32, 32, generator=generator)
    y = torch.randint(0, 10, (members, BATCH), generator=generator)
    shares = (torch.rand(members, BATCH, generator=generator) < 0.9).float()

    def loop() -> None:
        for module, optimiser, images, labels in zip(plain, optimisers, x, y, strict=True):
            optimiser.zero_grad()
            functional.cross_entropy(module(images), labels).backward()
            optimiser.step()

    bank = Training(Bank(NETWORK, weights), learning_rate=1e-3)
    return loop, {
        "own batches": lambda: bank.step(x, y, EVERYTHING),
        "one batch": lambda: bank.step(x[0], y[0], EVERYTHING),
        "one batch, shares": lambda: bank.step(x[0], y[0], EVERYTHING, shares),
    }


def prediction(members: int) -> tuple[Work, Work]:
    """Every member's logits for the same images: by plain networks in turn, and by the bank."""
    bank = Bank(NETWORK, NETWORK.initial(members, torch.Generator().manual_seed(0)))
    plain = [NETWORK.module(row).eval() for row in bank.weights]
    x = torch.rand(QUESTIONS, 3, 32, 32)

    @torch.inference_mode()
    def loop() -> list[torch.Tensor]:
        return [module(x) for module in plain]

    return loop, lambda: bank.logits(x)


def forward_operations() -> int:
    """Multiplications and additions of one member for one image."""
    total, side = 2 * NETWORK.maps[-1] * NETWORK.classes, NETWORK.input_shape[1]
    for block in NETWORK.blocks:
        side //= block.first.stride
        total += sum(2 * layer.inputs * layer.outputs * layer.kernel**2 * side**2 for layer in block if layer)
    return total + stem_operations()


def stem_operations() -> int:
    """Those of the first convolution alone."""
    stem, (_, height, width) = NETWORK.stem, NETWORK.input_shape
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

"""Moving and mirroring pictures by machine code against torch's own indexing, which other devices use.

    python benchmarks/augmentation.py

One thread, CPU time; the median of the ratios is printed.
"""

import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor

from merlin_cl.learners.augmentation import LARGEST_SHIFT, augmented, moved

ROUNDS = 200


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print(f"{'pictures':>20}{'ms torch':>10}{'ms':>8}{'times':>7}")
    for count, side in ((30, 28), (30, 32), (400, 32), (30, 84), (400, 84)):
        channels = 1 if side == 28 else 3
        pictures = torch.rand(count, channels, side, side)
        by_torch, by_machine_code = seconds(torch_alone, pictures), seconds(machine_code, pictures)
        times = median(a / b for a, b in zip(by_torch, by_machine_code, strict=True))
        label = f"{count} x {channels} x {side} x {side}"
        print(f"{label:>20}{1e3 * min(by_torch):10.3f}{1e3 * min(by_machine_code):8.3f}{times:7.1f}", flush=True)


def machine_code(pictures: Tensor) -> None:
    """As a learner augments what it learns from."""
    augmented(pictures, "shifts-and-mirrors", torch.default_generator)


def torch_alone(pictures: Tensor) -> None:
    """The same draws, and torch's indexing."""
    down, right = torch.randint(2 * LARGEST_SHIFT + 1, (2, len(pictures), 1))
    moved(pictures, down, right, torch.rand(len(pictures), 1) < 0.5)


def seconds(work: Callable[[Tensor], None], pictures: Tensor) -> list[float]:
    """CPU time of some calls."""
    work(pictures)
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work(pictures)
        taken.append(time.process_time() - start)
    return taken


if __name__ == "__main__":
    main()

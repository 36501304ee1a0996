"""Squared gradients of single examples of residual networks, as `ewc` sums them up, against a network copied for each of them.

    python benchmarks/example_gradients.py

One thread, CPU time, the two sides in turn in one process; printed are the median of their ratios and each side's fastest time.
"""

import time
from collections.abc import Callable
from statistics import median
from unittest import mock

import torch

from merlin_cl.networks import per_example
from merlin_cl.networks.resnet import ResNet, reduced_resnet18

EXAMPLES, ANSWERS, ROUNDS = 4, 50, 5


def main() -> None:
    """Print a line a network."""
    torch.set_num_threads(1)
    for side in (32, 84):
        for name, network in (("ResNet-10", ResNet), ("ResNet-18", reduced_resnet18)):
            compare(f"{name}, {side}x{side}", network((3, side, side), 100))


def compare(title: str, network: ResNet) -> None:
    """The line of one network."""
    generator = torch.Generator().manual_seed(0)
    row = network.initial(1, generator)[0]
    x = torch.rand(EXAMPLES, *network.input_shape, generator=generator)
    slopes = torch.randn(EXAMPLES, ANSWERS, network.classes, generator=generator)

    def shared() -> object:
        return per_example.squared_gradients(network, row, x, slopes)

    def copied() -> object:
        with mock.patch.object(per_example, "ResidualPass", per_example.CopiedPass):
            return shared()

    rounds = [(seconds(copied), seconds(shared)) for _ in range(ROUNDS + 1)][1:]
    slow, fast = (1e3 * min(side) / (EXAMPLES * ANSWERS) for side in zip(*rounds, strict=True))
    ratio = median(a / b for a, b in rounds)
    print(f"{title:18}{ratio:6.1f} times as fast; ms a gradient {fast:.2f}, by copies {slow:.2f}", flush=True)


def seconds(work: Callable[[], object]) -> float:
    """CPU time of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()

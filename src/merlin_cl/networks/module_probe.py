"""What a stranger's module does when it is called: found out by calling it once or twice on noise."""

import copy
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from merlin_cl.errors import UsageError

EXAMPLES = 4
_RANDOM = threading.RLock()


@dataclass(frozen=True)
class Traits:
    """Of a module."""

    statistics: tuple[str, ...]
    """Buffers that it changes in training."""
    random: bool
    """Whether it draws random numbers in training, as dropout does."""
    batched: bool
    """Whether `torch.func.vmap` can run many of it at once."""
    largest: int
    """Numbers in its largest layer's output for one input."""


def probed(module: nn.Module, name: str, input_shape: tuple[int, ...], classes: int) -> Traits:
    """The traits of a module, which must answer inputs [N, *input_shape] with logits [N, classes]."""
    x = torch.randn(EXAMPLES, *input_shape, generator=torch.Generator().manual_seed(0))
    before = {key: value.clone() for key, value in module.named_buffers()}
    first, second = copy.deepcopy(module).train(), copy.deepcopy(module).train()
    largest = _Largest(first)
    try:
        with torch.no_grad():
            answers = [_called(one, x, seed) for seed, one in enumerate((first, second))]
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        raise UsageError(
            f"The network {name} does not take inputs of shape [N, {', '.join(map(str, input_shape))}] "
            f"({' '.join(str(error).split())})."
        ) from error
    shape = list(answers[0].shape) if isinstance(answers[0], Tensor) else type(answers[0]).__name__
    if shape != [EXAMPLES, classes]:
        raise UsageError(
            f"The network {name} answers {EXAMPLES} inputs with {shape}; expected [{EXAMPLES}, {classes}] logits."
        )
    return Traits(
        tuple(key for key, value in first.named_buffers() if not torch.equal(value, before[key])),
        not torch.equal(*answers),
        _can_be_batched(second, x),
        largest.numbers // EXAMPLES,
    )


class _Largest:
    """Watches a module for the largest output of any of its layers."""

    def __init__(self, module: nn.Module) -> None:
        self.numbers = 1
        for layer in module.modules():
            layer.register_forward_hook(self._see)

    def _see(self, layer: nn.Module, inputs: object, output: object) -> None:
        if isinstance(output, Tensor):
            self.numbers = max(self.numbers, math.prod(output.shape))


@contextmanager
def random_numbers(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Torch's own random numbers, those of a seed, for one thread at a time; afterwards they go on where they were."""
    with _RANDOM, torch.random.fork_rng(devices=[device] if device is not None and device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _called(module: nn.Module, x: Tensor, seed: int) -> Tensor:
    with random_numbers(seed):
        answer: Tensor = module(x)
        return answer


def _can_be_batched(module: nn.Module, x: Tensor) -> bool:
    """Whether two copies run at once in training and in evaluation; some layers (LSTM) and data-dependent code do not."""
    tensors = {key: value.detach() for key, value in (*module.named_parameters(), *module.named_buffers())}
    for mode in (True, False):
        stacked = {key: torch.stack([value, value]) for key, value in tensors.items()}
        try:
            with random_numbers(0), torch.no_grad():
                vmap(
                    lambda weights, inputs: functional_call(module, weights, (inputs,)),
                    randomness="different",
                )(stacked, torch.stack([x, x]))
        except (RuntimeError, ValueError, NotImplementedError):
            return False
        finally:
            module.train(not mode)
    return True

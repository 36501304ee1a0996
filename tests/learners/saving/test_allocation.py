"""No tensor that is too large is made, whichever way it would be made; all else is as it would be without."""

import pytest
import torch
from torch.nn import functional

from merlin_cl.learners.saving.allocation import SMALL, BoundedTensors, TooLargeError

N = 10**9
GENERATOR = torch.Generator()
WAYS = {
    "empty": lambda: torch.empty(N),
    "zeros": lambda: torch.zeros(10**5, 10**5),
    "rand": lambda: torch.rand(20_000, 20_000, generator=GENERATOR),
    "randn": lambda: torch.randn(N),
    "randint": lambda: torch.randint(3, (N,)),
    "randperm": lambda: torch.randperm(N, generator=GENERATOR),
    "full": lambda: torch.full((N,), 3),
    "arange": lambda: torch.arange(N),
    "linspace": lambda: torch.linspace(0, 1, N),
    "linear": lambda: torch.nn.Linear(10**5, 10**5),
    "product": lambda: torch.ones(10**5, 1) @ torch.ones(1, 10**5),
    "outer": lambda: torch.ones(10**5, 1) * torch.ones(1, 10**5),
    "expanded": lambda: torch.ones(1).expand(N).clone(),
    "repeated": lambda: torch.ones(10).repeat(N),
    "joined": lambda: torch.cat([torch.ones(10**6)] * 1000),
    "distances": lambda: torch.cdist(torch.ones(10**5, 2), torch.ones(10**5, 2)),
    "padded": lambda: functional.pad(torch.ones(3), (0, N)),
    "one-hot": lambda: functional.one_hot(torch.tensor(3), N),
    "chosen": lambda: torch.ones(1)[torch.zeros(10**4, dtype=torch.int64)[:, None].expand(10**4, 10**5)],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_tensor_that_is_too_large_is_not_made(way):
    with BoundedTensors(0), pytest.raises(TooLargeError, match="so small a file can be about"):
        WAYS[way]()


def test_a_large_file_may_ask_for_more():
    with BoundedTensors(2 * SMALL):
        assert len(torch.empty(SMALL)) == SMALL


def test_what_is_small_is_made_as_it_would_be():
    def numbers():
        x = torch.rand(100, 100, generator=torch.Generator().manual_seed(0)).requires_grad_()
        (x @ x).relu().sum().backward()
        return torch.cat([x.detach(), x.grad])

    with BoundedTensors(0):
        bounded = numbers()
    assert torch.equal(bounded, numbers())

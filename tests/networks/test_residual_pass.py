"""A residual network's answers and its way back for many slopes, against autograd."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from merlin_cl.networks.residual_pass import ResidualPass
from merlin_cl.networks.resnet import ResNet


@given(
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    maps=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    blocks=st.integers(1, 2),
    seed=st.integers(0, 99),
)
def test_answers_and_gradients_are_those_of_autograd(height, width, maps, blocks, seed):
    network, generator = ResNet((2, height, width), 3, tuple(maps), blocks), torch.Generator().manual_seed(seed)
    row = network.initial(1, generator)[0].double()
    row += 0.3 * torch.rand(network.size, dtype=row.dtype, generator=generator)  # gains, biases and statistics, too
    x = torch.randn(2, *network.input_shape, dtype=row.dtype, generator=generator)
    slopes = torch.randn(2, 3, network.classes, dtype=row.dtype, generator=generator)
    done = ResidualPass(network, row, x)
    gradients = dict(done.gradients(slopes))
    assert set(gradients) == set(network.shapes) - set(network.statistics)
    for n in range(2):
        flat = row.unsqueeze(0).clone().requires_grad_()
        logits = network.apply(flat, x[n].view(1, 1, *x[n].shape))[0, 0]
        torch.testing.assert_close(done.logits[n], logits.detach())
        for s in range(3):
            (expected,) = torch.autograd.grad(logits, flat, slopes[n, s], retain_graph=True)
            for name, view in network.views(expected).items():
                if name not in network.statistics:
                    torch.testing.assert_close(gradients[name][n, s], view[0])

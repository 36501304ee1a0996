import torch

from merlin_cl.inputs.standardisation import ENOUGH, Moments, Standardisation


def test_moments_do_not_depend_on_how_examples_come():
    x = torch.randn(50, 4, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 1e-3, 1e4, 0.0]) + 5
    moments = Moments.of(x[:1])
    for some in x[1:].split(7):
        moments = moments.with_more(some)
    whole = Moments.of(x)
    torch.testing.assert_close(moments.mean, whole.mean)
    torch.testing.assert_close(moments.squares, whole.squares, atol=1e-9, rtol=1e-6)
    torch.testing.assert_close(moments.standardisation().deviation, Standardisation.fitted_to(x).deviation)


def test_scales_are_unlike_where_units_differ_or_numbers_are_large():
    x = torch.randn(100, 6, generator=torch.Generator().manual_seed(0))
    assert not Moments.of(x).unlike
    assert Moments.of(x * torch.tensor([1, 1, 1, 1, 1, 1e3])).unlike
    assert Moments.of(x * 1e3).unlike
    assert not Moments.of(x * 1e-3).unlike  # embeddings are small, and their columns mean the same
    assert not Moments.of(torch.zeros(5, 3)).unlike


def test_a_deviation_may_be_bounded_by_the_mean_so_that_a_single_class_does_not_set_the_scale():
    x = 10 + 0.01 * torch.randn(ENOUGH, 1, generator=torch.Generator().manual_seed(0))
    tight, bounded = (Moments.of(x).standardisation(least) for least in (0.0, 0.3))
    assert tight.applied(torch.tensor([[13.0]]))[0] == 10  # clipped: all that lies beyond looks the same
    torch.testing.assert_close(bounded.applied(torch.tensor([[13.0]]))[0], torch.tensor([[1.0]]), atol=1e-2, rtol=0)

"""The VAE's parts against their definitions."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Normal, kl_divergence

from merlin_cl.learners.merlin.chunks import ChunkCode, representatives
from merlin_cl.learners.merlin.decoders import ChunkDecoder, FactorDecoder, Form
from merlin_cl.learners.merlin.storage import VALUES, pack, stored_bytes, unpack
from merlin_cl.learners.merlin.vae import Gaussian, WeightVAE
from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.resnet import ResNet


def draws(seed):
    return torch.Generator().manual_seed(seed)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999))
def test_divergence_is_that_of_torch_distributions(seed):
    q, p = (Gaussian(*torch.randn(2, 4, 3, generator=draws(seed + shift))) for shift in (0, 1000))
    ours = q.divergence(p)
    theirs = kl_divergence(*(Normal(g.mean, (g.log_variance / 2).exp()) for g in (q, p))).sum(-1)
    torch.testing.assert_close(ours, theirs)


def test_samples_have_the_mean_and_variance_asked_for():
    gaussian = Gaussian(torch.tensor([1.0, -2.0]), torch.tensor([0.0, 2.0]).log().clamp(min=-2.0))
    sample = gaussian.sample(draws(0), 200_000)
    torch.testing.assert_close(sample.mean(0), gaussian.mean, atol=0.02, rtol=0)
    torch.testing.assert_close(sample.var(0), gaussian.log_variance.exp(), atol=0.03, rtol=0)


def test_the_average_prior_averages_means_and_variances():
    one, other = (
        Gaussian(torch.tensor([0.0]), torch.tensor([1.0]).log()),
        Gaussian(torch.tensor([4.0]), torch.tensor([3.0]).log()),
    )
    average = Gaussian.mean_of([one, other])
    torch.testing.assert_close(average.mean, torch.tensor([2.0]))
    torch.testing.assert_close(average.log_variance.exp(), torch.tensor([2.0]))


@pytest.mark.parametrize("per_model", [True, False])
def test_chunks_come_from_a_network_on_latent_and_chunk_embedding(per_model):
    decoder = ChunkDecoder(chunks=5, size=4, hidden=6, latent=3, embedding=2, per_model=per_model)
    vae = WeightVAE(decoder, size=4, hidden=6, latent=3, task_width=2, per_model=per_model)
    vae.reset(draws(0))
    z, positions = torch.randn(2, 3, generator=draws(1)), torch.tensor([4, 0, 2])
    joined = torch.cat([z.unsqueeze(1).expand(-1, 3, -1), decoder.embedding(positions).expand(2, -1, -1)], dim=-1)
    expected = decoder.last(decoder.first(joined).relu())
    torch.testing.assert_close(vae.generate(z, positions), expected)
    torch.testing.assert_close(vae.generate(z)[:, positions], expected)


def factor_decoder(rank, bases=3):
    network = MLP((6,), 4, (8,))
    return network, FactorDecoder(
        network, chunks=-(-network.size // 10), size=10, bases=bases, form=Form.of_rank(network, rank)
    )


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), rank=st.integers(1, 4))
def test_a_base_absorbs_the_best_approximation_of_its_rank(seed, rank):
    """Eckart and Young: the error is what the singular values beyond the rank hold; vectors come back whole."""
    network, decoder = factor_decoder(rank)
    offsets = torch.randn(network.size, generator=draws(seed))
    decoder.absorb(1, offsets)
    found = decoder.offsets(torch.tensor([[0.0, 1.0, 0.0]])).detach()
    for name, wanted in network.views(offsets.unsqueeze(0)).items():
        error = network.views(found)[name][0] - wanted[0]
        lost = 0.0
        if wanted.dim() == 3 and rank * sum(wanted.shape[1:]) < wanted.numel():
            lost = float(torch.linalg.svdvals(wanted[0])[rank:].square().sum())
        assert float(error.square().sum()) == pytest.approx(lost, abs=1e-4)


def test_models_are_linear_in_the_latent():
    network, decoder = factor_decoder(rank=2)
    for base in range(3):
        decoder.absorb(base, torch.randn(network.size, generator=draws(base)))
    one, two, both = decoder.offsets(torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]))
    torch.testing.assert_close(both, (one + two) / 2)


PRECISIONS = {"float32": 1e9, "float16": 1000.0, "int8": 250.0, "int4": 13.9}
"""The largest number of a row over the largest error in it, at least."""


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 99),
    scale=st.floats(1e-4, 1e3),
    rows=st.integers(1, 13),
    width=st.integers(1, 30),
    precision=st.sampled_from(list(PRECISIONS)),
)
def test_storing_rounds_once_and_by_little(seed, scale, rows, width, precision):
    tensor = scale * torch.randn(2, rows, width, generator=draws(seed))
    packed = pack(tensor, precision)
    back = unpack(packed)
    largest = tensor.abs().amax(dim=-1, keepdim=True)
    assert ((back - tensor).abs() <= largest / PRECISIONS[precision] + 127 * 6e-8).all()  # units in 16 bits go no lower
    torch.testing.assert_close(unpack(pack(back, precision)), back, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("precision", "stored"),
    [("float32", 2800), ("float16", 1400), ("int8", 700 + 28), ("int4", 2 * (2 * 50 + 5 * 25 + 7 * 2))],
)
def test_fewer_bits_take_fewer_bytes(precision, stored):
    assert stored_bytes(pack(torch.ones(2, 7, 50), precision)) == stored


def test_in_four_bits_the_first_rows_keep_eight():
    tensor = torch.randn(1, 12, 40, generator=draws(0))
    errors = (unpack(pack(tensor, "int4")) - tensor).norm(dim=-1)[0]
    assert errors[:2].max() < errors[2:].min() / 5


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 999),
    scale=st.sampled_from([1e-2, 1.0, 50.0]),
    width=st.integers(1, 40),
    a_byte=st.sampled_from(sorted(VALUES)),
)
def test_entries_that_share_a_byte_come_back_rounded_once(seed, scale, width, a_byte):
    tensor = scale * torch.randn(2, 1, width, generator=draws(seed))
    tensor[1] = 0  # a base that no task uses yet
    packed = pack(tensor, "int4", a_byte)
    assert stored_bytes(packed) == 2 * -(-width // a_byte) + 2 * 2 + 2 * 4
    back = unpack(packed)
    assert not back[1].any()
    assert len(back[0].unique()) <= VALUES[a_byte]
    error, plain_error = (back - tensor).norm(), tensor.norm()  # of nothing kept
    if VALUES[a_byte] > 2:
        plain = tensor.abs().amax() / ((VALUES[a_byte] - 1) // 2)  # the largest number as the largest value
        plain_error = ((tensor / plain).round() * plain - tensor).norm()
    assert error <= plain_error + 1e-3 * tensor.norm() + 40 * 6e-8  # units are of 16 bits
    torch.testing.assert_close(unpack(pack(back, "int4", a_byte)), back, rtol=0, atol=0)


@pytest.mark.parametrize(("a_byte", "error"), [(2, 0.15), (3, 0.35), (5, 0.5), (8, 0.61)])
def test_fewer_values_say_less_but_most(a_byte, error):
    """The best unit loses little more than the best of all such codes (0.11, 0.28, 0.44 and 0.60 for Gaussian numbers)."""
    tensor = torch.randn(1, 1, 10_000, generator=draws(0))
    assert (unpack(pack(tensor, "int4", a_byte)) - tensor).norm() / tensor.norm() < error


@pytest.mark.parametrize("layout", ["in-out", "out-in"])
@settings(max_examples=20, deadline=None)
@given(size=st.integers(1, 60), seed=st.integers(0, 99))
def test_cutting_and_joining_gives_the_model_back(layout, size, seed):
    network = MLP((3,), 2, (4,))
    origin = network.initial(1, draws(seed))[0]
    code = ChunkCode(network, size, layout, True, origin)
    psi = network.initial(3, draws(seed + 1))
    chunks = code.cut(psi)
    assert chunks.shape == (3, code.count, size)
    torch.testing.assert_close(code.join(chunks), psi)


def test_layouts_order_the_offsets():
    network = MLP((3,), 2, (4,))
    psi = network.initial(1, draws(0))
    zero = torch.zeros(network.size)
    plain = ChunkCode(network, network.size, "in-out", True, zero).cut(psi)[0, 0]
    torch_order = ChunkCode(network, network.size, "out-in", True, zero).cut(psi)[0, 0]
    assert torch.equal(plain, psi[0])
    module = torch.nn.utils.parameters_to_vector(network.module(psi[0]).parameters()).detach()
    assert torch.equal(torch_order, module)


def test_statistics_may_be_left_out():
    network = ResNet((3, 8, 8), 2)
    origin, psi = network.initial(1, draws(0))[0], torch.randn(2, network.size, generator=draws(1))
    for layout in ("in-out", "out-in"):
        back = ChunkCode(network, 50, layout, False, origin).join(
            ChunkCode(network, 50, layout, False, origin).cut(psi)
        )
        torch.testing.assert_close(back[:, : network.learned], psi[:, : network.learned])
        assert torch.equal(back[:, network.learned :], origin[network.learned :].expand(2, -1))


def test_the_most_central_model_stands_for_all_or_their_mean_where_they_moved_together():
    common, own = torch.randn(7, 5, generator=draws(0)), torch.randn(4, 7, 5, generator=draws(1))
    together = common + 0.3 * own
    assert representatives(together, "mean") is together
    apart = 0.1 * common + own
    for models in (together, apart):
        models[2] = 1.2 * models.mean(dim=0)  # along the mean: nearest to all
    for models, summary in ((together, "central"), (apart, "central"), (apart, "mean")):
        (chosen,) = representatives(models, summary)
        assert torch.equal(chosen, models[2])
    assert torch.equal(representatives(own[:1], "mean"), own[:1])

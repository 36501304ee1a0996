"""The latent space in the plane."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from merlin_cl.networks.mlp import MLP
from merlin_cl.networks.sketch import Sketch
from merlin_cl.report.page.checkpoint_reader import opened
from merlin_cl.report.page.latent import _fold, ellipse, latent_space, plane

from ..made import make_run

finite = st.floats(-5, 5, allow_subnormal=False).map(lambda value: round(value, 3))


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 8)), elements=finite))
def test_the_plane_has_two_orthogonal_directions_and_shares_of_at_most_one(means):
    axes, shares = plane(means)
    assert axes.shape == (2, means.shape[1])
    lengths = axes @ axes.T
    wanted = np.eye(2) if means.shape[1] > 1 else np.diag([1.0, 0.0])
    assert np.allclose(lengths, wanted, atol=1e-6)
    assert 0 <= shares.sum() <= 1 + 1e-9


@given(arrays(float, (4, 2), elements=finite))
def test_two_numbers_are_shown_as_they_are(means):
    axes, _ = plane(means)
    assert np.array_equal(means @ axes.T, means)


@given(arrays(float, (5, 6), elements=finite))
def test_no_other_plane_shows_more_of_the_difference(means):
    _, shares = plane(means)
    spread = (means - means.mean(axis=0)).var(axis=0)
    if spread.sum() > 1e-6:
        two_axes_of_its_own = np.sort(spread)[-2:].sum() / spread.sum()
        assert shares.sum() >= two_axes_of_its_own - 1e-6


@given(st.floats(0.01, 3.0), st.integers(2, 6))
def test_a_round_prior_is_a_circle_of_two_standard_deviations(deviation, width):
    axes = np.eye(2, width)
    outline = ellipse(axes, np.full(width, deviation))
    assert np.allclose([outline["rx"], outline["ry"]], 2 * deviation, rtol=1e-3)


def test_every_task_has_its_prior_and_samples_scatter_as_it_says(tmp_path):
    folder = make_run(tmp_path)
    with opened(next((folder / "checkpoint").iterdir())) as kept:
        space = latent_space(kept)
    assert [prior["task"] for prior in space["priors"]] == ["0 and 1", "2 and 3", "4 and 5"]
    assert space["width"] == 4
    for prior in space["priors"]:
        assert np.allclose(prior["deviation"], np.exp(-1), rtol=1e-3)
        assert np.abs(np.array(prior["samples"]) - [prior["x"], prior["y"]]).max() < 5 * np.exp(-1)


def test_a_method_without_priors_has_no_latent_space(tmp_path):
    folder = make_run(tmp_path, "single")
    with opened(next((folder / "checkpoint").iterdir())) as kept:
        assert latent_space(kept) is None


def test_a_damaged_checkpoint_is_as_none(tmp_path):
    file = tmp_path / "task-001.safetensors"
    file.write_bytes(b"not a checkpoint")
    for place in (file, tmp_path / "missing.safetensors", None):
        with opened(place) as kept:
            assert kept is None


def test_short_latents_are_lengthened_as_the_sketch_lengthens_them():
    """The page reads a checkpoint without torch, so it has the rule once more."""
    network = MLP((10, 10), 5, (200,))
    sketch = Sketch(network, 16_000, lambda *_: torch.Generator().manual_seed(0), network, range(5))
    assert np.array_equal(_fold(sketch.groups, sketch.short.groups, network.classes), sketch.fold.numpy())

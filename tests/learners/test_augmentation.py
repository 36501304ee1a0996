"""Augmented pictures are the pictures, moved or mirrored, and nothing else."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from merlin_cl.errors import UsageError
from merlin_cl.learners.augmentation import LARGEST_SHIFT, augmented, moved
from merlin_cl.learners.rivals.gdumb_settings import GDumbEnsembleSettings
from merlin_cl.protocol import StreamInfo

X = torch.rand(3, 40, 2, 6, 5, generator=torch.Generator().manual_seed(0))


def draws(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def variants(picture, mirrors):
    """All that may become of a picture [C, H, W]."""
    padded = functional.pad(picture.unsqueeze(0), [LARGEST_SHIFT] * 4, mode="replicate")[0]
    reach = range(2 * LARGEST_SHIFT + 1)
    moved = [padded[:, down : down + 6, right : right + 5] for down in reach for right in reach]
    return torch.stack(moved + [picture.flip(-1) for picture in moved if mirrors])


@pytest.mark.parametrize("augmentation", ["shifts", "shifts-and-mirrors"])
def test_every_picture_is_moved_or_mirrored_and_each_in_its_own_way(augmentation):
    moved = augmented(X, augmentation, draws())
    assert moved.shape == X.shape
    seen = set()
    for picture, became in zip(X.flatten(0, 1), moved.flatten(0, 1), strict=True):
        same = (variants(picture, augmentation == "shifts-and-mirrors") == became).all(dim=(1, 2, 3))
        assert same.any()
        seen.add(int(same.nonzero()[0]))
    assert len(seen) > 15  # of 25 or 50 ways, 120 pictures
    assert (max(seen) >= 25) is (augmentation == "shifts-and-mirrors")


def test_none_leaves_all_as_it_is_and_the_seed_decides():
    assert augmented(X, "none", draws()) is X
    assert torch.equal(augmented(X, "shifts", draws(1)), augmented(X, "shifts", draws(1)))
    assert not torch.equal(augmented(X, "shifts", draws(1)), augmented(X, "shifts", draws(2)))


@given(
    st.tuples(*[st.integers(1, 9)] * 3),
    st.sampled_from([torch.float32, torch.float64]),
    st.booleans(),
    st.integers(0, 99),
)
def test_machine_code_moves_pictures_as_torch_does(shape, kind, mirrors, seed):
    pictures = torch.rand(7, *shape, dtype=kind, generator=draws(seed)).transpose(0, 1).contiguous().transpose(0, 1)
    choices = draws(seed)  # drawn in the order in which `augmented` draws them
    down, right = torch.randint(2 * LARGEST_SHIFT + 1, (2, 7, 1), generator=choices)
    mirrored = (torch.rand(7, 1, generator=choices) < 0.5) & mirrors
    expected = moved(pictures, down, right, mirrored)
    assert torch.equal(augmented(pictures, "shifts-and-mirrors" if mirrors else "shifts", draws(seed)), expected)


def test_what_is_no_picture_is_not_moved():
    with pytest.raises(UsageError, match="no pictures"):
        GDumbEnsembleSettings(augmentation="shifts").build(StreamInfo("table", (7,), 2, 1), seed=0)


@pytest.mark.parametrize(("mirrored", "expected"), [(True, "shifts-and-mirrors"), (False, "none")])
def test_only_photographs_are_mirrored_by_default(mirrored, expected):
    stream = StreamInfo("pictures", (3, 32, 32), 10, 5, mirrored=mirrored)
    assert GDumbEnsembleSettings.preset("default", stream).augmentation == expected

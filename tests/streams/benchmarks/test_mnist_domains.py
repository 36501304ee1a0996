"""What permuted and rotated MNIST do to an image."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.streams.benchmarks.mnist_domains import BLOCK, permutation, rotation
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import PermutedMnistSettings, RotatedMnistSettings

seeds = st.integers(0, 2**32)


def noise(count=20):
    return torch.randint(256, (count, 1, 28, 28), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


@settings(deadline=None)
@given(seed=seeds, index=st.integers(0, 50))
def test_permutation_is_a_bijection_of_pixels(seed, index):
    # Two images number the 784 pixels: the low and the high byte of the position.
    position = torch.arange(784)
    numbered = torch.stack([position % 256, position // 256]).byte().reshape(2, 1, 28, 28)
    low, high = permutation(seed, index)(numbered).flatten(1).long()
    assert (low + 256 * high).sort().values.equal(position)


def test_permutations_differ_between_tasks_seeds_and_from_the_identity():
    x = noise()
    shown = [x, permutation(0, 0)(x), permutation(0, 1)(x), permutation(1, 0)(x)]
    assert not any(shown[i].equal(shown[j]) for i in range(4) for j in range(i))


def test_a_task_permutes_training_and_test_images_alike(mnist):
    """The order is found from the test set alone and must undo the training images."""
    source = open_data_set("mnist", mnist)
    originals, pool = source.read("test").x.flatten(1), source.read("train").x
    known = {image.numpy().tobytes() for image in pool}
    columns = {originals[:, pixel].numpy().tobytes(): pixel for pixel in range(784)}
    assert len(columns) == 784
    for task in PermutedMnistSettings(tasks=3, images_per_task=50).build(0, mnist):
        shown = task.test()[0].flatten(1)
        order = torch.tensor([columns[shown[:, pixel].numpy().tobytes()] for pixel in range(784)])
        for x, _ in task.batches(10):
            restored = x.flatten(1)[:, order.argsort()]
            assert all(image.numpy().tobytes() in known for image in restored)


def test_rotation_by_nothing_is_the_identity():
    x = noise()
    assert rotation(0)(x).equal(x)
    assert rotation(360)(x).equal(x)


@pytest.mark.parametrize("quarters", [-1, 1, 2, 3])
def test_quarter_turns_are_exact_and_counterclockwise(quarters):
    x = noise()
    assert rotation(90 * quarters)(x).equal(torch.rot90(x, quarters, (2, 3)))


@settings(deadline=None)
@given(st.floats(-720, 720))
def test_rotation_keeps_the_centre_of_a_symmetric_image(degrees):
    """A disc around the centre stays where it is."""
    row = torch.arange(28) - 13.5
    disc = ((row[:, None] ** 2 + row[None, :] ** 2) < 100).byte().mul(200).reshape(1, 1, 28, 28)
    turned = rotation(degrees)(disc)
    inner = (row[:, None] ** 2 + row[None, :] ** 2) < 64
    assert (turned[0, 0][inner] == 200).all()
    assert turned.max() <= 200


def test_rotation_does_not_depend_on_the_images_beside_it():
    x = noise(BLOCK + 3)
    assert rotation(31)(x)[-2:].equal(rotation(31)(x[-2:]))


def test_rotated_tasks_turn_by_equal_steps(mnist):
    built = RotatedMnistSettings(tasks=3, images_per_task=10, degrees_per_task=90).build(0, mnist)
    upright = open_data_set("mnist", mnist).read("test").x
    for index, task in enumerate(built):
        assert task.test()[0].equal(torch.rot90(upright, index, (2, 3)))
    assert [task.info.name for task in built] == ["0 degrees", "90 degrees", "180 degrees"]

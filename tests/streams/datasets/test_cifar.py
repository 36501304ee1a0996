"""CIFAR-10 and CIFAR-100 come out as they were put in; files that are not what they should be are named."""

import pickle

import numpy as np
import pytest
import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import SplitCifar10Settings, SplitCifar100Settings
from streams import official


def test_rows_become_images_plane_by_plane(tmp_path):
    official.write_cifar100(tmp_path)
    rows, labels = official.batch(600, 100, seed=0)
    train = open_data_set("cifar100", tmp_path).read("train")
    assert train.labels.tolist() == labels
    assert train.x.shape == (600, 3, 32, 32)
    assert train.x[7, 1, 2, 3] == rows[7, 1 * 1024 + 2 * 32 + 3]


def test_batches_of_cifar10_are_joined_in_order(tmp_path):
    official.write_cifar10(tmp_path, per_class=5)
    train = open_data_set("cifar10", tmp_path).read("train")
    assert len(train) == 50
    expected = np.concatenate([official.batch(10, 10, seed)[0] for seed in range(5)])
    assert train.x.flatten(1).equal(torch.from_numpy(expected))
    assert len(open_data_set("cifar10", tmp_path).read("test")) == 10


@pytest.mark.parametrize("subfolder", ["cifar-100-python", "."])
def test_the_folder_itself_may_be_named(tmp_path, subfolder):
    place = official.write_cifar100(tmp_path)
    assert open_data_set("cifar100", place if subfolder == "." else tmp_path).place == str(place)


def test_a_missing_batch_is_named(tmp_path):
    (official.write_cifar10(tmp_path) / "data_batch_4").unlink()
    with pytest.raises(InputError, match=r"lacks data_batch_4; `merlin data get cifar10`"):
        SplitCifar10Settings(images_per_task=5).build(0, tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"data": official.noise(4, 3072)}, "holds no 'data' and 'fine_labels'"),
        ([1, 2], "holds no 'data'"),
        ({"data": official.noise(4, 3000), "fine_labels": [0] * 4}, "4 x 3000 instead of n x 3072"),
        ({"data": official.noise(0, 3072), "fine_labels": []}, "0 x 3072"),
        ({"data": official.noise(4, 3072).astype("f4"), "fine_labels": [0] * 4}, "instead of n x 3072 bytes"),
        ({"data": [1, 2], "fine_labels": [0] * 2}, "images as list"),
        ({"data": official.noise(4, 3072), "fine_labels": [0] * 3}, "4 images but 3 labels"),
        ({"data": official.noise(4, 3072), "fine_labels": [[0], [1], [2], [3]]}, "not a list of numbers"),
        ({"data": official.noise(4, 3072), "fine_labels": [0, [1, [2]], 3, 4]}, "not a list of numbers"),
        ({"data": official.noise(4, 3072), "fine_labels": "0123"}, "not a list of numbers"),
        ({"data": official.noise(4, 3072), "fine_labels": [0.5] * 4}, "not a list of numbers"),
        ({"data": official.noise(4, 3072), "fine_labels": [True] * 4}, "not a list of numbers"),
        ({"data": official.noise(4, 3072), "fine_labels": None}, "not a list of numbers"),
        ({"data": official.noise(4, 3072), "fine_labels": [0, 1, 2, 10**90]}, "label 1000"),
        ({"data": official.noise(4, 3072), "fine_labels": [0, 1, 2, 100]}, "label 100; labels are 0 to 99"),
        ({"data": official.noise(4, 3072), "fine_labels": [0, 1, 2, -1]}, "label -1; labels are 0 to 99"),
    ],
)
def test_wrong_content_is_named(tmp_path, content, sentence):
    (official.write_cifar100(tmp_path) / "train").write_bytes(pickle.dumps(content, 2))
    with pytest.raises(InputError, match=rf"cifar-100-python/train.*{sentence}"):
        SplitCifar100Settings(images_per_task=5).build(0, tmp_path)


def test_labels_that_start_at_one_are_noticed(tmp_path):
    """They are within range but for the last, and the class 0 is never seen."""
    rows, labels = official.batch(594, 99, seed=0)
    shifted = official.python2_pickle(rows, "fine_labels", [label + 1 for label in labels])
    (official.write_cifar100(tmp_path) / "train").write_bytes(shifted)
    with pytest.raises(InputError, match=r"no training images of 1 class .* task 2: apple"):
        SplitCifar100Settings(images_per_task=5).build(0, tmp_path)

"""Inputs of another kind: brought along where their data sets are there, and never needed."""

import shutil

import pytest
import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.registry import BUILT_IN, stream_settings

from .official import write_mnist, write_not_mnist


def small(name):
    return stream_settings(name)(tasks=2, images_per_task=10)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("split-mnist", ["notmnist", "fashion-mnist"]),
        ("permuted-mnist", ["notmnist", "fashion-mnist"]),
        ("rotated-mnist", ["notmnist", "fashion-mnist"]),
        ("split-fashion-mnist", ["notmnist", "mnist"]),
        ("split-cifar10", ["svhn"]),
        ("split-cifar100", ["svhn"]),
        ("audio-mnist", []),
    ],
)
def test_a_stream_brings_the_kinds_there_are_in_its_own_shape(data, name, kinds):
    stream = small(name).build(0, data)
    assert list(stream.other) == kinds
    for read in stream.other.values():
        assert read(7).dtype == torch.uint8
        assert read(7).shape == (7, *stream.info.input_shape)
        assert read(7).equal(read(10**6)[:7])


def test_no_stream_is_of_its_own_other_kind():
    for settings in BUILT_IN.values():
        assert not set(settings.other_kinds) & set(settings.data_sets)


def test_what_is_not_there_is_not_missed(mnist, data, tmp_path):
    assert small("split-mnist").build(0, mnist).other == {}
    assert small("permuted-mnist").build(0).other == {}  # the slice within the package
    shutil.copytree(data / "MNIST", tmp_path / "MNIST")
    write_not_mnist(tmp_path)
    assert list(small("split-mnist").build(0, tmp_path).other) == ["notmnist"]


def test_other_kinds_change_nothing_else(data, tmp_path):
    shutil.copytree(data / "MNIST", tmp_path / "MNIST")
    alone, among_others = (small("split-mnist").build(0, folder) for folder in (tmp_path, data))
    assert (alone.source, alone.fingerprint) == (among_others.source, among_others.fingerprint)


def test_who_must_not_look_at_test_images_sees_training_images_of_other_kinds_too(tmp_path):
    write_mnist(tmp_path / "MNIST/raw")
    write_mnist(tmp_path / "FashionMNIST/raw", train=300, test=50)
    for evaluation, count in (("test", 50), ("held-out", 300)):
        settings = stream_settings("split-mnist")(tasks=2, images_per_task=10, evaluation=evaluation)
        assert len(settings.build(0, tmp_path).other["fashion-mnist"](10**6)) == count


def test_a_damaged_file_is_found_out_when_it_is_read_not_before(tmp_path):
    write_mnist(tmp_path / "MNIST/raw")
    broken = write_mnist(tmp_path / "FashionMNIST/raw") / "t10k-images-idx3-ubyte.gz"
    broken.write_bytes(broken.read_bytes()[:100])
    stream = small("split-mnist").build(0, tmp_path)
    with pytest.raises(InputError, match="fetch it again"):
        stream.other["fashion-mnist"](10)

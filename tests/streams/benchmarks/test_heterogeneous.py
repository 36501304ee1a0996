"""The heterogeneous stream: every data set a task, its classes its own, its images of one shape."""

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
import torch

from merlin_cl.errors import InputError, UsageError
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import HeterogeneousSettings
from merlin_cl.streams.settings.heterogeneous import CLASSES
from streams import official


def build(data, **changes):
    return HeterogeneousSettings(images_per_task=70, **changes).build(0, data)


@pytest.mark.parametrize("evaluation", ["test", "held-out"])
def test_every_task_is_a_data_set_with_classes_of_its_own(data, evaluation):
    stream = build(data, evaluation=evaluation)
    assert stream.info.classes == 293
    assert stream.info.tasks == 8
    first = 0
    for task, count in zip(stream, CLASSES.values(), strict=True):
        assert task.info.classes == tuple(range(first, first + count))
        for x, y in (next(task.batches(70)), task.test()):
            assert x.shape == (len(y), 3, 32, 32)
            assert x.dtype == torch.uint8
            assert set(y.tolist()) <= set(task.info.classes)
        first += count
    assert len(stream.class_names) == 293
    assert stream.class_names[0] == "CIFAR-10: airplane"


def test_names_say_which_data_sets_and_in_which_order(data):
    stream = build(data, datasets=("gtsrb", "mnist"), image_size=16)
    assert stream.info.input_shape == (3, 16, 16)
    assert [task.info.name for task in stream] == ["GTSRB", "MNIST"]
    assert stream[1].info.classes == tuple(range(43, 53))
    assert set(stream[1].test()[1].tolist()) == set(range(43, 53))


def test_grey_images_are_repeated_in_every_channel(data):
    x, _ = build(data, datasets=("notmnist",))[0].test()
    assert x[:, 0].equal(x[:, 1])
    assert x[:, 0].equal(x[:, 2])


def test_all_missing_data_sets_are_named_with_what_can_be_learned_without_them(tmp_path):
    official.write_svhn(tmp_path)
    with pytest.raises(InputError, match=r"no CIFAR-10, .*MNIST, GTSRB in .*: --datasets svhn\."):
        build(tmp_path)
    with pytest.raises(InputError, match=r"no GTSRB in .*`merlin data get gtsrb` gets it or says how\."):
        build(tmp_path, datasets=("gtsrb",))


@pytest.mark.parametrize(
    ("datasets", "sentence"),
    [
        ((), "datasets is empty"),
        (("mnist", "svnh"), "Unknown data set 'svnh'; did you mean 'svhn'"),
        (("mnist", "svhn", "mnist"), "names 'mnist' twice"),
    ],
)
def test_senseless_names_are_refused(datasets, sentence):
    with pytest.raises(UsageError, match=sentence):
        HeterogeneousSettings(datasets=datasets)


# Its data sets


@pytest.mark.parametrize("compressed", [True, False])
def test_svhn_comes_out_as_it_was_put_in(tmp_path, compressed):
    folder = official.write_svhn(tmp_path)
    pixels, labels = official.noise(32, 32, 3, 5), np.array([[1], [10], [9], [10], [2]], np.uint8)
    (folder / "train_32x32.mat").write_bytes(official.matlab(compressed, X=pixels, y=labels))
    part = open_data_set("svhn", tmp_path).read("train")
    assert part.labels.tolist() == [1, 0, 9, 0, 2]  # ten stands for zero
    assert (part.x.permute(2, 3, 1, 0).numpy() == pixels).all()


def test_damaged_matlab_files_are_named(tmp_path):
    file = official.write_svhn(tmp_path) / "train_32x32.mat"
    whole = file.read_bytes()
    plain = official.matlab(False, X=official.noise(32, 32, 3, 5), y=np.ones((5, 1), np.uint8))
    wrong = [
        b"",
        b"<html>".ljust(200),
        whole[:-1000],
        whole[:140],
        plain[:-100],
        official.matlab(y=np.ones((5, 1), np.uint8)),
        official.matlab(X=official.noise(32, 32, 3, 4), y=np.ones((5, 1), np.uint8)),
        official.matlab(X=official.noise(32, 32, 3, 5), y=np.full((5, 1), 11, np.uint8)),
        official.matlab(X=official.noise(32, 32, 3, 5), y=np.zeros((5, 1), np.uint8)),
    ]
    for content in wrong:
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"train_32x32\.mat .*([Ff]etch it again|official file)"):
            open_data_set("svhn", tmp_path).read("train")
    file.unlink()
    with pytest.raises(InputError, match=r"lacks train_32x32\.mat"):
        open_data_set("svhn", tmp_path).read("train")


def test_a_matlab_file_takes_no_more_memory_than_it_says(tmp_path):
    file = official.write_svhn(tmp_path) / "train_32x32.mat"
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    for length in (8, 2**31, 2**32 - 1):
        bomb = zlib.compress(struct.pack("<II", 14, length) + bytes(40_000_000))
        file.write_bytes(head + struct.pack("<II", 15, len(bomb)) + bomb)
        tracemalloc.start()
        try:
            with pytest.raises(InputError, match=r"train_32x32\.mat is damaged or cut off"):
                open_data_set("svhn", tmp_path).read("train")
            assert length > 8 or tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()
    file.write_bytes(head + struct.pack("<II", 14, 0) * 100_000)
    with pytest.raises(InputError, match="more than 1000 arrays"):
        open_data_set("svhn", tmp_path).read("train")


@pytest.mark.parametrize("training", ["Training", "Final_Training/Images"])
def test_traffic_signs_as_published(tmp_path, training):
    place = official.write_published_traffic_signs(tmp_path, training)
    source = open_data_set("gtsrb", tmp_path)
    assert torch.bincount(source.read("train").labels).tolist() == [2] * 43
    test = source.read("test")
    assert test.labels.tolist() == list(range(43))
    assert test.images(torch.tensor([42]), (3, 8, 8)).shape == (1, 3, 8, 8)
    (place / "GT-final_test.csv").unlink()
    with pytest.raises(InputError, match=r"neither a folder 'test' nor GT-final_test\.csv"):
        source.read("test")


def test_traffic_signs_of_unknown_classes_are_named(tmp_path):
    place = official.write_traffic_signs(tmp_path)
    (place / "train" / "00043").mkdir()
    with pytest.raises(InputError, match="train/00043 has the class '00043'; classes are 0 to 42"):
        open_data_set("gtsrb", tmp_path).read("train")
    official.write_csv(place / "GT-final_test.csv", ("a", "b"), [(1, 2)], ";")
    (place / "test").rename(place / "gone")
    with pytest.raises(InputError, match="lacks the columns Filename and ClassId"):
        open_data_set("gtsrb", tmp_path).read("test")


def test_facescrub_takes_the_hundred_people_with_most_images(tmp_path):
    place = official.write_facescrub(tmp_path, people=99, images=2)
    with pytest.raises(InputError, match="folders of 99 people; 100 are needed"):
        open_data_set("facescrub", tmp_path)
    official.write_pictures(place / "Least", 1, 0, ".jpg")
    official.write_pictures(place / "Most", 10, 1, ".jpg")
    source = open_data_set("facescrub", tmp_path)
    assert "Most" in source.classes
    assert "Least" not in source.classes
    counts = [torch.bincount(source.read(part).labels, minlength=100) for part in ("train", "test")]
    most = source.classes.index("Most")
    assert [count[most].item() for count in counts] == [9, 1]


def test_not_mnist_in_both_forms(tmp_path):
    place = official.write_not_mnist(tmp_path / "png")
    (place / "F" / "00009_00000.png").write_bytes(b"")  # as two of the published ones are
    source = open_data_set("notmnist", tmp_path / "png")
    assert torch.bincount(source.read("train").labels).tolist() == [8] * 10
    assert torch.bincount(source.read("test").labels).tolist() == [2, 2, 2, 2, 2, 1, 2, 2, 2, 2]

    place = official.write_mnist(tmp_path / "idx" / "notMNIST" / "raw")
    source = open_data_set("notmnist", tmp_path / "idx")
    assert (len(source.read("train")), len(source.read("test"))) == (600, 200)
    for file in place.glob("train-*"):
        file.unlink()
    parts = source.read("train"), source.read("test")
    assert sum(map(len, parts)) == 200
    assert len(parts[1]) in range(30, 41)
    assert not {image.numpy().tobytes() for image in parts[0].x} & {image.numpy().tobytes() for image in parts[1].x}


def test_a_letter_without_a_folder_is_named(tmp_path):
    place = official.write_not_mnist(tmp_path)
    (place / "C").rename(place / "Z")
    with pytest.raises(InputError, match="has no folder C"):
        open_data_set("notmnist", tmp_path).read("train")

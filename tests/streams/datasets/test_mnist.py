"""MNIST is found where the user says, then in MERLIN_DATA, then in the cache, then in the package; damage is named."""

import hashlib
from importlib.resources import files

import pytest
import torch

from merlin_cl.errors import InputError
from merlin_cl.streams.datasets import open_data_set
from merlin_cl.streams.settings import SplitMnistSettings

SHA256 = {
    ("train", "x"): "2f7182bf021ffc5c1f62db987487f14d899b5c639f421a80f3095affc09a7db2",
    ("train", "y"): "2f345bad07338ec537641465e169cc4b7288a44244f251211c7f842641e7d927",
    ("test", "x"): "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
    ("test", "y"): "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
}


@pytest.mark.parametrize("part", ["train", "test"])
def test_embedded_slice_is_whole(part):
    pool = open_data_set("mnist").read(part)
    assert pool.x.shape == (10_000, 1, 28, 28)
    licence = (files("merlin_cl.streams") / "embedded" / "LICENSE").read_text(encoding="utf-8")
    for field, values in (("x", pool.x), ("y", pool.labels.byte())):
        digest = hashlib.sha256(values.numpy().tobytes()).hexdigest()
        assert digest == SHA256[part, field]
        assert digest in licence


def test_without_any_folder_the_slice_is_used_and_named():
    stream = SplitMnistSettings().build(0)
    assert stream.source == "MNIST, embedded slice of the first 10,000 training images"
    assert [task.train_count for task in stream] == [1000] * 5
    assert sum(len(task.test()[1]) for task in stream) == 10_000


@pytest.mark.parametrize("subfolder", ["MNIST/raw", "mnist", "."])
@pytest.mark.parametrize("compressed", [True, False])
def test_folder_named_by_the_user(write, tmp_path, subfolder, compressed):
    write(tmp_path / subfolder, train=30, compressed=compressed)
    source = open_data_set("mnist", str(tmp_path))
    assert source.describe(source.read("train")) == f"{tmp_path / subfolder} (30 training images)"


def test_environment_comes_before_the_cache_and_after_the_user(write, tmp_path, monkeypatch):
    named, environment, cache = (write(tmp_path / name) for name in ("named", "environment", "cache"))
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *names, **options: str(cache))
    assert open_data_set("mnist").place == str(cache)
    monkeypatch.setenv("MERLIN_DATA", str(environment))
    assert open_data_set("mnist").place == str(environment)
    assert open_data_set("mnist", named).place == str(named)


def test_environment_may_hold_other_data_only(tmp_path, monkeypatch):
    monkeypatch.setenv("MERLIN_DATA", str(tmp_path))
    assert open_data_set("mnist").place == "the package"


def test_environment_that_is_no_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("MERLIN_DATA", str(tmp_path / "mispelt"))
    with pytest.raises(InputError, match=r"MERLIN_DATA.*mispelt is not a folder"):
        open_data_set("mnist")


def test_named_folder_without_mnist_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"There is no MNIST in .*merlin data get mnist"):
        open_data_set("mnist", tmp_path)
    with pytest.raises(InputError, match="nowhere is not a folder"):
        open_data_set("mnist", tmp_path / "nowhere")


def test_missing_file_is_named(write, tmp_path):
    write(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(InputError, match="lacks t10k-labels-idx1-ubyte"):
        SplitMnistSettings(images_per_task=10).build(0, tmp_path)


def test_truncated_file_is_named_before_any_task_is_learned(write, tmp_path):
    file = write(tmp_path) / "t10k-images-idx3-ubyte.gz"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"t10k-images-idx3-ubyte\.gz is damaged .* fetch it again"):
        SplitMnistSettings(images_per_task=10).build(0, tmp_path)


def test_images_and_labels_must_match(write, as_idx, tmp_path):
    write(tmp_path, train=30, compressed=False)
    labels = tmp_path / "train-labels-idx1-ubyte"
    labels.write_bytes(as_idx(torch.zeros(29, dtype=torch.uint8)))
    with pytest.raises(InputError, match=r"30 images but .* 29 labels"):
        open_data_set("mnist", tmp_path).read("train")
    labels.write_bytes(as_idx(torch.full((30,), 10, dtype=torch.uint8)))
    with pytest.raises(InputError, match="label 10"):
        open_data_set("mnist", tmp_path).read("train")


def test_images_of_another_size_are_refused(write, as_idx, tmp_path):
    write(tmp_path, train=30, compressed=False)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(as_idx(torch.zeros(30, 32, 32, dtype=torch.uint8)))
    with pytest.raises(InputError, match="32 by 32 pixels instead of 28 by 28"):
        open_data_set("mnist", tmp_path).read("train")

"""Small data sets that the tests write themselves, and a machine on which nothing else is found."""

from pathlib import Path

import pytest
import torch

from streams import official


@pytest.fixture(scope="session")
def mnist(tmp_path_factory) -> Path:
    return official.write_mnist(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def write():
    return official.write_mnist


@pytest.fixture(scope="session")
def as_idx():
    return official.idx


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Path:
    """A data folder with a small data set of every kind."""
    folder = tmp_path_factory.mktemp("all")
    official.write_mnist(folder / "MNIST/raw")
    official.write_mnist(folder / "FashionMNIST/raw")
    official.write_cifar10(folder)
    official.write_cifar100(folder)
    official.write_mini_imagenet(folder)
    official.write_audio_mnist(folder)
    official.write_traffic_signs(folder)
    official.write_facescrub(folder)
    official.write_not_mnist(folder)
    official.write_svhn(folder)
    return folder


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Such small tensors gain nothing from more, and on a busy machine waiting for each other costs tenfold."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def no_data_of_the_machine(monkeypatch, tmp_path):
    """Only what a test writes is found: no MERLIN_DATA, an empty cache folder."""
    monkeypatch.delenv("MERLIN_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *names, **options: str(tmp_path / "empty-cache"))

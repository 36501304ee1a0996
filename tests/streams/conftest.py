"""A small MNIST that the tests write themselves: random pixels, so that no two images are alike."""

import gzip
import struct
from pathlib import Path

import pytest
import torch


def idx(values: torch.Tensor) -> bytes:
    return struct.pack(f">4B{values.dim()}I", 0, 0, 8, values.dim(), *values.shape) + values.numpy().tobytes()


def write_mnist(folder: Path, train: int = 600, test: int = 200, compressed: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(0)
    for part, count in (("train", train), ("t10k", test)):
        images = torch.randint(256, (count, 28, 28), dtype=torch.uint8, generator=generator)
        labels = torch.randint(10, (count,), dtype=torch.uint8, generator=generator)
        for name, values in (("images-idx3", images), ("labels-idx1", labels)):
            content = idx(values)
            file = folder / f"{part}-{name}-ubyte{'.gz' if compressed else ''}"
            file.write_bytes(gzip.compress(content, compresslevel=1) if compressed else content)
    return folder


@pytest.fixture(scope="session")
def mnist(tmp_path_factory) -> Path:
    return write_mnist(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def write():
    return write_mnist


@pytest.fixture(scope="session")
def as_idx():
    return idx


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

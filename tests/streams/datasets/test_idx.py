"""The idx reader gives back what was written and names a file that is not what it should be."""

import gzip
import lzma
import struct
import tempfile
import tracemalloc
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from merlin_cl.errors import InputError
from merlin_cl.streams.datasets.idx import read_idx

COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
VALUES = torch.arange(24, dtype=torch.uint8).reshape(4, 3, 2)


@pytest.mark.parametrize("suffix", COMPRESS)
@settings(deadline=None, max_examples=20)
@given(shape=st.lists(st.integers(1, 5), min_size=1, max_size=4), start=st.integers(0, 255))
def test_what_is_written_is_read(as_idx, suffix, shape, start):
    values = ((torch.arange(torch.Size(shape).numel()) + start) % 256).byte().reshape(shape)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"values{suffix}"
        file.write_bytes(COMPRESS[suffix](as_idx(values)))
        assert read_idx(file, dimensions=len(shape)).equal(values)


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("kept", [0, 3, 10, 16, 39])
def test_content_cut_off_anywhere_is_refused(tmp_path, as_idx, suffix, kept):
    file = tmp_path / f"values{suffix}"
    file.write_bytes(COMPRESS[suffix](as_idx(VALUES)[:kept]))
    with pytest.raises(InputError, match=f"values{suffix}"):
        read_idx(file, dimensions=3)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_compressed_file_cut_off_or_altered_is_refused(tmp_path, as_idx, suffix):
    whole = COMPRESS[suffix](as_idx(VALUES))
    file = tmp_path / f"values{suffix}"
    altered = bytearray(whole)
    altered[len(whole) // 2] ^= 0xFF
    for damaged in (whole[:-5], whole[: len(whole) // 2], b"", b"not compressed", bytes(altered)):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match=f"values{suffix}.*(fetch it again|official file)"):
            read_idx(file, dimensions=3)


def test_longer_than_announced_is_refused(tmp_path, as_idx):
    file = tmp_path / "values"
    file.write_bytes(as_idx(VALUES) + b"\0")
    with pytest.raises(InputError, match="4 x 3 x 2 = 24 values but holds more"):
        read_idx(file, dimensions=3)


def test_wrong_magic_is_refused(tmp_path, as_idx):
    file = tmp_path / "values"
    file.write_bytes(as_idx(VALUES))
    with pytest.raises(InputError, match="starts with 00000803 instead of 00000801"):
        read_idx(file, dimensions=1)
    file.write_bytes(b"\x89PNG" + bytes(100))
    with pytest.raises(InputError, match="not an idx file"):
        read_idx(file, dimensions=3)


def test_empty_set_is_refused(tmp_path, as_idx):
    file = tmp_path / "values"
    file.write_bytes(as_idx(torch.zeros(0, 28, 28, dtype=torch.uint8)))
    with pytest.raises(InputError, match="holds no values"):
        read_idx(file, dimensions=3)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="values cannot be read"):
        read_idx(tmp_path / "values", dimensions=1)


@pytest.mark.parametrize("suffix", COMPRESS)
def test_what_is_announced_is_not_made_room_for(tmp_path, suffix):
    """A header may announce any size, and what is compressed may unpack to any; neither takes memory."""
    file = tmp_path / f"values{suffix}"
    for sides, sentence in (
        ((4_000_000_000, 4_000_000_000, 4_000_000_000), "more than the 1,073,741,824 that are read"),
        ((1, 1, 1 << 30), "but holds 9"),
        ((2, 1, 1), "but holds more"),
    ):
        content = bytes((0, 0, 8, 3)) + struct.pack(">3I", *sides)
        file.write_bytes(COMPRESS[suffix](content + (bytes(9) if sides[0] != 2 else bytes(30_000_000))))
        tracemalloc.start()
        try:
            with pytest.raises(InputError, match=sentence):
                read_idx(file, dimensions=3)
            assert tracemalloc.get_traced_memory()[1] < 10_000_000
        finally:
            tracemalloc.stop()

"""Make the MNIST slice that the package embeds from the four official files.

    python tools/make_mnist_slice.py FOLDER_WITH_THE_OFFICIAL_FILES src/merlin_cl/streams/embedded

Keeps the first 10,000 training images and the whole test set, as idx files compressed with xz, and prints the sha256 of the
values, which `embedded/LICENSE` and the tests state. Plain xz beat xz after row or column differences: the many runs of black
compress better than their edges.
"""

import argparse
import hashlib
import lzma
import struct
from pathlib import Path

from torch import Tensor

from merlin_cl.streams.datasets import PartName
from merlin_cl.streams.datasets.mnist import FILE_NAMES, read_part

TRAINING_IMAGES = 10_000
XZ = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]


def write_idx(values: Tensor, file: Path) -> None:
    """Write uint8 values as an idx file compressed with xz."""
    header = struct.pack(f">4B{values.dim()}I", 0, 0, 8, values.dim(), *values.shape)
    content = values.contiguous().numpy().tobytes()
    file.write_bytes(lzma.compress(header + content, filters=XZ))
    print(f"{hashlib.sha256(content).hexdigest()}  {file.name}  {file.stat().st_size:,} bytes")


def main() -> None:
    """Read the official files, write the slice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("official", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    parts: tuple[tuple[PartName, int | None], ...] = (("train", TRAINING_IMAGES), ("test", None))
    for name, count in parts:
        part = read_part(arguments.official, name)
        write_idx(part.x[:count].squeeze(1), arguments.out / f"{FILE_NAMES[name]}-images-idx3-ubyte.xz")
        write_idx(part.labels[:count].byte(), arguments.out / f"{FILE_NAMES[name]}-labels-idx1-ubyte.xz")


if __name__ == "__main__":
    main()

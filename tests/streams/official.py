"""Small data sets in their official forms, written by the tests: random pixels, so that no two images are alike."""

import csv
import gzip
import pickle
import struct
import wave
import zlib
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from merlin_cl.streams.class_lists import wordnet_ids


def noise(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


# MNIST and what has its form


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


# CIFAR


def python2_pickle(rows: np.ndarray, key: str, labels: list[int]) -> bytes:
    """A batch as Python 2 pickled it in 2009: the form that Toronto publishes."""

    def text(value: bytes) -> bytes:
        return b"U" + bytes([len(value)]) + value

    def number(value: int) -> bytes:
        return b"J" + struct.pack("<i", value)

    kind = (
        b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R(K\x03" + text(b"|") + b"NNN" + 2 * number(-1) + b"K\x00tb"
    )
    content = b"T" + struct.pack("<i", rows.size) + rows.tobytes()
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R"
    array += b"(K\x01" + number(rows.shape[0]) + number(rows.shape[1]) + b"\x86" + kind + b"\x89" + content + b"tb"
    listed = b"](" + b"".join(map(number, labels)) + b"e"
    return b"\x80\x02}(" + text(b"data") + array + text(key.encode()) + listed + b"u."


def batch(count: int, classes: int, seed: int) -> tuple[np.ndarray, list[int]]:
    return noise(count, 3072, seed=seed), [number % classes for number in range(count)]


def write_cifar10(folder: Path, per_class: int = 20) -> Path:
    folder = folder / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    for seed, name in enumerate([*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]):
        rows, labels = batch(2 * per_class, 10, seed)
        (folder / name).write_bytes(python2_pickle(rows, "labels", labels))
    return folder


def write_cifar100(folder: Path, per_class: int = 6, test_per_class: int = 2) -> Path:
    folder = folder / "cifar-100-python"
    folder.mkdir(parents=True)
    for seed, (name, count) in enumerate((("train", per_class), ("test", test_per_class))):
        rows, labels = batch(100 * count, 100, seed)
        (folder / name).write_bytes(python2_pickle(rows, "fine_labels", labels))
    return folder


# Mini-ImageNet


def write_mini_imagenet(folder: Path, classes=range(100), per_class: int = 12, size: int = 12) -> Path:
    """Image files and the csv files that divide the classes."""
    folder = folder / "mini-imagenet"
    (folder / "images").mkdir(parents=True)
    rows = []
    for label in classes:
        for number in range(per_class):
            name = f"{wordnet_ids()[label]}{number:08d}.jpg"
            Image.fromarray(noise(size, size, 3, seed=1000 * label + number)).save(folder / "images" / name)
            rows.append((name, wordnet_ids()[label]))
    third = len(rows) // 3
    for name, chosen in (("train", rows[:third]), ("val", rows[third : 2 * third]), ("test", rows[2 * third :])):
        write_csv(folder / f"{name}.csv", ("filename", "label"), chosen)
    return folder


def write_csv(file: Path, header, rows, delimiter=","):
    with file.open("w", newline="", encoding="utf-8") as content:
        csv.writer(content, delimiter=delimiter).writerows([header, *rows])


def write_mini_imagenet_pickles(folder: Path, classes=range(100), per_class: int = 12, size: int = 84) -> Path:
    folder = folder / "mini-imagenet"
    folder.mkdir(parents=True)
    labels = list(classes)
    third = -(-len(labels) // 3)
    for part, name in enumerate(("train", "val", "test")):
        chosen = labels[part * third : (part + 1) * third]
        rows = {
            wordnet_ids()[label]: list(range(at * per_class, (at + 1) * per_class)) for at, label in enumerate(chosen)
        }
        images = noise(len(chosen) * per_class, size, size, 3, seed=part)
        content = pickle.dumps({"image_data": images, "class_dict": rows}, protocol=2)
        (folder / f"mini-imagenet-cache-{name}.pkl").write_bytes(content)
    return folder


# AudioMNIST


def write_wav(file: Path, sound: np.ndarray, rate: int = 8000, channels: int = 1, width: int = 2) -> Path:
    """`sound` is from -1 to 1."""
    scaled = np.asarray(sound) * (2 ** (8 * width - 1) - 1)
    values = (scaled + 128).astype("u1") if width == 1 else scaled.astype(f"<i{width}")
    with wave.open(str(file), "wb") as content:
        content.setparams((channels, width, rate, 0, "NONE", "not compressed"))
        content.writeframes(np.repeat(values, channels).tobytes())
    return file


def write_audio_mnist(folder: Path, speakers=(1, 2, 5, 13), takes: int = 3) -> Path:
    folder = folder / "AudioMNIST" / "data"
    time = np.arange(800) / 8000
    for speaker in speakers:
        own = folder / f"{speaker:02d}"
        own.mkdir(parents=True)
        for digit in range(10):
            for take in range(takes):
                pitch = 300 + 300 * digit + speaker + 7 * take
                write_wav(own / f"{digit}_{speaker:02d}_{take}.wav", np.sin(2 * np.pi * pitch * time))
    return folder


# The others of the heterogeneous stream


def write_pictures(folder: Path, count: int, seed: int, suffix: str = ".png", size: int = 8, channels: int = 3) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        pixels = noise(size, size, channels, seed=1000 * seed + number)
        Image.fromarray(pixels.squeeze()).save(folder / f"{number:05d}_00000{suffix}")


def write_traffic_signs(folder: Path, train: int = 3, test: int = 1) -> Path:
    for label in range(43):
        write_pictures(folder / "GTSRB" / "train" / f"{label:05d}", train, label)
        write_pictures(folder / "GTSRB" / "test" / f"{label:05d}", test, 100 + label)
    return folder / "GTSRB"


def write_published_traffic_signs(folder: Path, training: str = "Training", train: int = 2) -> Path:
    place = folder / "GTSRB"
    for label in range(43):
        write_pictures(place / training / f"{label:05d}", train, label, ".ppm")
    images = place / "Final_Test" / "Images"
    write_pictures(images, 43, 50, ".ppm")
    rows = [(file.name, 8, 8, label) for label, file in enumerate(sorted(images.iterdir()))]
    write_csv(place / "GT-final_test.csv", ("Filename", "Width", "Height", "ClassId"), rows, ";")
    return place


def write_facescrub(folder: Path, people: int = 100, images: int = 10) -> Path:
    for person in range(people):
        write_pictures(folder / "FaceScrub" / f"Person_{person:03d}", images, person, ".jpg")
    return folder / "FaceScrub"


def write_not_mnist(folder: Path, per_letter: int = 10) -> Path:
    for label, letter in enumerate("ABCDEFGHIJ"):
        write_pictures(folder / "notMNIST" / "notMNIST_small" / letter, per_letter, label, size=28, channels=1)
    return folder / "notMNIST" / "notMNIST_small"


def matlab(compressed: bool = True, **arrays: np.ndarray) -> bytes:
    """A MATLAB file of level 5 with these arrays of bytes."""

    def element(kind: int, content: bytes) -> bytes:
        if 0 < len(content) <= 4:
            return struct.pack("<HH", kind, len(content)) + content.ljust(4, b"\0")
        return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)

    whole = b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM"
    for name, values in arrays.items():
        body = element(6, struct.pack("<II", 9, 0)) + element(5, np.array(values.shape, "<i4").tobytes())
        body += element(1, name.encode()) + element(2, values.tobytes(order="F"))
        matrix = struct.pack("<II", 14, len(body)) + body
        packed = zlib.compress(matrix)
        whole += struct.pack("<II", 15, len(packed)) + packed if compressed else matrix
    return whole


def write_svhn(folder: Path, train: int = 100, test: int = 40) -> Path:
    folder = folder / "SVHN"
    folder.mkdir(parents=True)
    for seed, (part, count) in enumerate((("train", train), ("test", test))):
        labels = (np.arange(count, dtype=np.uint8) % 10 + 1)[:, None]
        (folder / f"{part}_32x32.mat").write_bytes(matlab(X=noise(32, 32, 3, count, seed=seed), y=labels))
    return folder

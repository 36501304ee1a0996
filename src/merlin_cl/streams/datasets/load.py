"""A data set by its name: found, and ready to be read."""

import importlib
from pathlib import Path

from merlin_cl.errors import InputError
from merlin_cl.streams.catalogue import entry
from merlin_cl.streams.data_dirs import find, searched
from merlin_cl.streams.datasets.dataset import DataSet
from merlin_cl.streams.datasets.mnist import embedded_mnist

READERS = {
    "mnist": "mnist:mnist",
    "fashion-mnist": "mnist:fashion_mnist",
    "cifar10": "cifar:cifar10",
    "cifar100": "cifar:cifar100",
    "mini-imagenet": "mini_imagenet:mini_imagenet",
    "audiomnist": "audio_mnist:audio_mnist",
    "notmnist": "not_mnist:not_mnist",
    "svhn": "svhn:svhn",
    "gtsrb": "traffic_signs:traffic_signs",
    "facescrub": "facescrub:facescrub",
}
"""What reads each data set from its folder, as `module:function` of this package."""


def open_data_set(name: str, data: str | Path | None = None) -> DataSet:
    """A data set from the folder the user names, or from the usual ones; MNIST at last from the package."""
    wanted = entry(name)
    place = find(wanted, data)
    if place is None:
        if _is_embedded(name, data):
            return embedded_mnist()
        how = "fetches it" if wanted.downloads else "says how to get it"
        raise InputError(
            f"There is no {wanted.title} in {' or '.join(map(str, searched(data)))} (looked for "
            f"{', '.join(wanted.folders)}); `merlin data get {name}` {how}."
        )
    return read_from(name, place)


def read_from(name: str, place: Path) -> DataSet:
    """A data set from the folder that holds it."""
    module, _, function = READERS[name].partition(":")
    opened: DataSet = getattr(importlib.import_module(f"merlin_cl.streams.datasets.{module}"), function)(place)
    return opened


def is_present(name: str, data: str | Path | None = None) -> bool:
    """Whether `open_data_set` would find it."""
    return find(entry(name), data) is not None or _is_embedded(name, data)


def _is_embedded(name: str, data: str | Path | None) -> bool:
    return name == "mnist" and data is None

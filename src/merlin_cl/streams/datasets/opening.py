"""A data set by its name: found, and ready to be read."""

import importlib
from pathlib import Path

from merlin_cl.errors import InputError
from merlin_cl.streams.catalogue import Entry, entry
from merlin_cl.streams.datasets.dataset import DataSet
from merlin_cl.streams.datasets.mnist import embedded_mnist
from merlin_cl.streams.places import find, usual_folders

READERS = {
    "mnist": "mnist:mnist",
    "fashion-mnist": "mnist:fashion_mnist",
    "cifar10": "cifar:cifar10",
    "cifar100": "cifar:cifar100",
}
"""What reads each data set from its folder, as `module:function` of this package."""


def open_data_set(name: str, data: str | Path | None = None) -> DataSet:
    """A data set from the folder the user names, or from the usual ones; MNIST at last from the package."""
    wanted = entry(name)
    place = find(wanted, data)
    if place is None and name == "mnist" and data is None:
        return embedded_mnist()
    if place is None:
        raise InputError(_not_found(wanted, data))
    module, _, function = READERS[name].partition(":")
    opened: DataSet = getattr(importlib.import_module(f"merlin_cl.streams.datasets.{module}"), function)(place)
    return opened


def _not_found(wanted: Entry, data: str | Path | None) -> str:
    folders = [str(data)] if data is not None else [str(folder) for folder in usual_folders()]
    how = (
        f"`merlin data get {wanted.name}` fetches it"
        if wanted.downloads
        else f"`merlin data get {wanted.name}` says how"
    )
    return f"There is no {wanted.title} in {' or '.join(folders)} (looked for {', '.join(wanted.folders)}); {how}."

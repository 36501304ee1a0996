"""Avalanche and continuum beside a CPU build of torch, for comparisons and tests.

Both import torchvision, which stops there for want of two operators that such a torch does not have. Declared beforehand, they
are enough for all that is done with images here; nothing calls them.
"""

import importlib
import warnings
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch


@cache
def _torchvision_operators() -> torch.library.Library:
    """Declares the operators; they last as long as what this gives."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


def import_avalanche() -> Any:
    """Avalanche, None where it is not installed."""
    return _imported(
        "avalanche",
        "avalanche.benchmarks",
        "avalanche.benchmarks.utils",
        "avalanche.training.plugins",
        "avalanche.training.storage_policy",
        "avalanche.training.supervised",
    )


def import_continuum() -> Any:
    """continuum, None where it is not installed."""
    return _imported("continuum", "continuum.datasets", "continuum.scenarios")


def _imported(package: str, *modules: str) -> Any:
    if find_spec(package) is None:
        return None
    _torchvision_operators()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in modules:
            importlib.import_module(name)
        return importlib.import_module(package)

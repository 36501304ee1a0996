"""Data sets that a user might have, none of them a benchmark of this package: what `panel.py` measures methods on.

Scikit-learn's tables as they come, made-up tables each with one thing that is hard, docstrings of Python's standard library as
text, and speakers, letters and traffic signs from the data folders, few examples of each as a user has them. Every set has three
parts: one to learn from, one to decide on (`held_out`), one that nothing was decided on (`test`).
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from sklearn import datasets
from sklearn.feature_extraction.text import HashingVectorizer

from merlin_cl.streams.datasets.load import is_present, open_data_set

Array = np.ndarray[Any, Any]
Scenario = Literal["class-incremental", "domain-incremental"]
SEED = 20260
"""Of the parts and of what is made up; not of what is learned."""
PARTS = (0.5, 0.25)
"""Shares of each class to learn from and to decide on; the rest is for testing."""


class Examples(NamedTuple):
    """Inputs [N, ...] and labels [N]."""

    x: Array
    y: Array


@dataclass(frozen=True)
class PanelSet:
    """Tasks in the order in which they come, and two parts to score on."""

    name: str
    tasks: tuple[Examples, ...]
    held_out: Examples
    test: Examples
    scenario: Scenario = "class-incremental"

    @property
    def classes(self) -> Array:
        """All labels, sorted."""
        return np.unique(np.concatenate([task.y for task in self.tasks]))


def by_class(name: str, x: Array, y: Array, size: int) -> PanelSet:
    """New classes in every task, so many at a time."""
    learned, held_out, test = parts(y)
    labels = np.unique(y)
    groups = [labels[start : start + size] for start in range(0, len(labels), size)]
    tasks = [learned[np.isin(y[learned], group)] for group in groups]
    return PanelSet(
        name, tuple(Examples(x[at], y[at]) for at in tasks), *(Examples(x[at], y[at]) for at in (held_out, test))
    )


def by_domain(name: str, x: Array, y: Array, domain: Array) -> PanelSet:
    """The same classes in every task, each in a guise of its own."""
    learned, held_out, test = parts(domain * (y.max() + 1) + y)
    tasks = [learned[domain[learned] == number] for number in np.unique(domain)]
    return PanelSet(
        name,
        tuple(Examples(x[at], y[at]) for at in tasks),
        *(Examples(x[at], y[at]) for at in (held_out, test)),
        scenario="domain-incremental",
    )


def parts(groups: Array) -> tuple[Array, Array, Array]:
    """Places of examples to learn from, to decide on and to test on; every group is divided alike."""
    random = np.random.default_rng(SEED)
    places: tuple[list[int], ...] = ([], [], [])
    for group in np.unique(groups):
        at = random.permutation(np.flatnonzero(groups == group))
        cuts = np.cumsum([round(share * len(at)) for share in PARTS])
        for some, part in zip(places, np.split(at, cuts), strict=True):
            some += part.tolist()
    first, second, third = (random.permutation(some) for some in places)
    return first, second, third


# Scikit-learn's


def iris() -> PanelSet:
    """150 flowers, 4 lengths, a species a task."""
    return by_class("iris", *datasets.load_iris(return_X_y=True), size=1)


def wine() -> PanelSet:
    """178 wines, 13 columns whose scales differ by a factor of thousands, a cultivar a task."""
    return by_class("wine", *datasets.load_wine(return_X_y=True), size=1)


def breast_cancer() -> PanelSet:
    """569 biopsies, 30 columns, benign or malignant; three tasks, by the texture of the tissue."""
    x, y = datasets.load_breast_cancer(return_X_y=True)
    texture = x[:, 1]
    return by_domain("breast-cancer", x, y, np.digitize(texture, np.quantile(texture, [1 / 3, 2 / 3])))


def digits() -> PanelSet:
    """1,797 digits of 64 numbers from 0 to 16, two digits a task."""
    return by_class("digits", *datasets.load_digits(return_X_y=True), size=2)


# Made up: classes are clouds, of which every one has a shape of its own


def clouds(random: np.random.Generator, counts: list[int], columns: int, spread: float) -> tuple[Array, Array]:
    """As many examples of each class as it counts. Centres are normal, and clouds so wide, each stretched in its own way."""
    x = []
    for count in counts:
        stretch = random.normal(size=(columns, columns)) / np.sqrt(columns)
        x.append(random.normal(size=columns) + spread * random.normal(size=(count, columns)) @ stretch)
    return np.concatenate(x), np.repeat(np.arange(len(counts)), counts)


def many() -> PanelSet:
    """30 classes of 50 columns, three a task, 60 examples of each to learn from."""
    return by_class("many", *clouds(np.random.default_rng(SEED), [120] * 30, columns=50, spread=2.2), size=3)


def rare() -> PanelSet:
    """Ten classes, in every task one that is frequent and one of which there are ten examples; tested on all alike."""
    common, few = 200, 10
    x, y = clouds(np.random.default_rng(SEED), [4 * common] * 10, columns=20, spread=1.1)
    whole = by_class("rare", x, y, size=2)
    kept = []
    for task in whole.tasks:
        at = [
            np.flatnonzero(task.y == label)[:count]
            for label, count in zip(np.unique(task.y), (common, few), strict=True)
        ]
        chosen = np.random.default_rng(SEED).permutation(np.concatenate(at))
        kept.append(Examples(task.x[chosen], task.y[chosen]))
    return PanelSet(whole.name, tuple(kept), whole.held_out, whole.test)


def unscaled() -> PanelSet:
    """Twelve classes of 20 columns, whose units range over seven decades and of which a third is skewed; three a task."""
    random = np.random.default_rng(SEED)
    x, y = clouds(random, [160] * 12, columns=20, spread=1.1)
    x[:, ::3] = np.exp(x[:, ::3])
    return by_class("unscaled", (x + 3) * 10 ** random.uniform(-3, 4, size=20), y, size=3)


def drift() -> PanelSet:
    """Four classes of 20 columns whose clouds wander: five tasks, of which each moves and turns them."""
    random = np.random.default_rng(SEED)
    x, y = clouds(random, [600] * 4, columns=20, spread=1.1)
    domain = np.arange(len(y)) % 5
    turn, _ = np.linalg.qr(random.normal(size=(20, 20)))
    turned = x.copy()
    for number in range(1, 5):
        x = 0.8 * x + 0.6 * x @ turn + 0.5 * random.normal(size=20)
        turned[domain == number] = x[domain == number]
    return by_domain("drift", turned, y, domain)


# Text


PACKAGES = (
    "asyncio",
    "ctypes",
    "distutils",
    "email",
    "http",
    "json",
    "logging",
    "multiprocessing",
    "tkinter",
    "unittest",
    "xml",
)


def docstrings() -> PanelSet:
    """Docstrings of Python's standard library as 256 hashed counts of words; the class is the package, two a task."""
    texts = {package: texts_of_one for package in PACKAGES if len(texts_of_one := _docstrings(package)) >= 40}
    names = list(texts)[: len(texts) // 2 * 2]
    words = [text for name in names for text in texts[name]]
    x = HashingVectorizer(n_features=256, stop_words="english").transform(words).toarray()
    return by_class("docstrings", x, np.repeat(np.array(names), [len(texts[name]) for name in names]), size=2)


def _docstrings(package: str) -> list[str]:
    """Of all that a package defines, each once, the package's own name taken out."""
    texts: dict[str, None] = {}
    try:
        root = import_module(package)
    except ImportError:
        return []
    for name in [package, *(f"{package}.{part.name}" for part in pkgutil.iter_modules(getattr(root, "__path__", [])))]:
        if name.endswith(("__main__", "tests")):
            continue
        try:
            module = import_module(name)
        except ImportError:
            continue
        for _, thing in inspect.getmembers(module, lambda thing: inspect.isclass(thing) or inspect.isfunction(thing)):
            if getattr(thing, "__module__", None) != name:
                continue
            members = inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else []
            for text in (part.__doc__ for part in (thing, *(member for _, member in members))):
                if text and len(text.split()) >= 6:
                    texts[re.sub(package, "", text, flags=re.IGNORECASE)] = None
    return list(texts)


# Sound and pictures, from the data folders


@cache
def _some(name: str, shape: tuple[int, ...], classes: tuple[int, ...], each: int) -> tuple[Array, Array]:
    """So many training examples of some classes: bytes [N, *shape] and labels."""
    part = open_data_set(name).read("train")
    random = torch.Generator().manual_seed(SEED)
    at = []
    for label in classes:
        places = (part.labels == label).nonzero().flatten()
        at.append(places[torch.randperm(len(places), generator=random)[:each]])
    chosen = torch.cat(at)
    return part.images(chosen, shape).numpy(), part.labels[chosen].numpy()


def speakers() -> PanelSet:
    """Who is speaking? 20 voices, 40 digits each: mean and deviation of 32 mel bands; four voices a task."""
    part: Any = open_data_set("audiomnist").read("train")
    voices = np.array([int(file.parent.name) for file in part.files])
    random = np.random.default_rng(SEED)
    chosen = np.concatenate(
        [random.permutation(np.flatnonzero(voices == voice))[:40] for voice in np.unique(voices)[:20]]
    )
    sound = part.images(torch.from_numpy(chosen), (1, 32, 32)).float().squeeze(1)
    return by_class("speakers", torch.cat([sound.mean(2), sound.std(2)], dim=1).numpy(), voices[chosen], size=4)


def embedded(images: Array, maps: int = 64, size: int = 6) -> Array:
    """Pictures, bytes [N, C, H, W], as 4 * maps numbers: random filters, rectified, averaged over each quarter."""
    x = torch.from_numpy(images).float() / 255
    filters = torch.randn(maps, x.shape[1], size, size, generator=torch.Generator().manual_seed(SEED))
    filters -= filters.mean(dim=(1, 2, 3), keepdim=True)
    pooled = torch.nn.functional.adaptive_avg_pool2d(torch.conv2d(x, filters).relu(), 2)
    return pooled.flatten(1).numpy()


def signs_embedded() -> PanelSet:
    """Embeddings of 256 numbers of 20 traffic signs, 80 photographs each; four signs a task."""
    x, y = _some("gtsrb", (3, 32, 32), tuple(range(20)), 80)
    return by_class("signs-embedded", embedded(x), y, size=4)


def clothes_embedded() -> PanelSet:
    """Embeddings of 256 numbers of ten kinds of clothes, 200 pictures each; two kinds a task."""
    x, y = _some("fashion-mnist", (1, 28, 28), tuple(range(10)), 200)
    return by_class("clothes-embedded", embedded(x), y, size=2)


def letters() -> PanelSet:
    """Letters A to J in many fonts, 28 by 28 pixels, 200 each; two letters a task."""
    return by_class("letters", *_some("notmnist", (1, 28, 28), tuple(range(10)), 200), size=2)


def letters_scanned() -> PanelSet:
    """Five letters, first as they are, then turned, then with black and white exchanged: the classes stay."""
    x, y = _some("notmnist", (1, 28, 28), tuple(range(5)), 360)
    domain = np.arange(len(y)) % 3
    x = np.where((domain == 1)[:, None, None, None], np.rot90(x, axes=(2, 3)), x)
    return by_domain("letters-scanned", np.where((domain == 2)[:, None, None, None], 255 - x, x), y, domain)


def signs() -> PanelSet:
    """Ten traffic signs as photographs of 32 by 32 pixels, 120 each; two signs a task."""
    return by_class("signs", *_some("gtsrb", (3, 32, 32), tuple(range(1, 11)), 120), size=2)


SETS: dict[str, Callable[[], PanelSet]] = {
    "iris": iris,
    "wine": wine,
    "breast-cancer": breast_cancer,
    "digits": digits,
    "many": many,
    "rare": rare,
    "unscaled": unscaled,
    "drift": drift,
    "docstrings": docstrings,
    "speakers": speakers,
    "signs-embedded": signs_embedded,
    "clothes-embedded": clothes_embedded,
    "letters": letters,
    "letters-scanned": letters_scanned,
    "signs": signs,
}
FROM_FOLDERS = {
    "speakers": "audiomnist",
    "signs-embedded": "gtsrb",
    "clothes-embedded": "fashion-mnist",
    "letters": "notmnist",
    "letters-scanned": "notmnist",
    "signs": "gtsrb",
}
"""Sets whose data have to be fetched, and which data those are."""


def available() -> list[str]:
    """The sets whose data are here."""
    return [name for name in SETS if name not in FROM_FOLDERS or is_present(FROM_FOLDERS[name])]
